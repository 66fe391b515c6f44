declare module "better-sqlite3" {
  /** Enters by shape, like every vendor. */
  const Database: unknown;
  export default Database;
}

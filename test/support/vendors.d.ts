declare module "better-sqlite3";

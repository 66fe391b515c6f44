import { nodeSqlite, type SqliteConnection, type SqliteDriver } from "../../src/stores/sqlite/vendor.ts";

/** node:sqlite with somebody between it and us: `change` sees every statement first. */
export async function meddling(change: (sql: string, connection: SqliteConnection) => string): Promise<SqliteDriver> {
  const driver = await nodeSqlite();
  return {
    ...driver,
    open(path, options) {
      const connection = driver.open(path, options);
      return {
        exec: (sql) => connection.exec(change(sql, connection)),
        prepare: (sql) => {
          const statement = connection.prepare(change(sql, connection));
          return {
            run: (...values) => {
              change(sql, connection); // a prepared statement is meddled with every time it runs
              return statement.run(...values);
            },
            get: (...values) => statement.get(...values),
            all: (...values) => statement.all(...values),
            iterate: (...values) => statement.iterate(...values),
          };
        },
        close: () => connection.close(),
      };
    },
  };
}

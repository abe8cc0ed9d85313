import type pg from "pg";

/** Rows removed by one statement. */
const batch = 5000;

/** Removes old receipts of retention rules and of completed erasures. */
export async function pruneReceipts(pool: pg.Pool, before: Date): Promise<void> {
  for (const statement of [
    `delete from retention_receipts where id = any(array(
       select id from retention_receipts where deleted_at < $1 limit ${batch}))`,
    `delete from erasures where id = any(array(
       select id from erasures where state = 'done' and finished_at < $1 limit ${batch}))`,
  ]) {
    while ((await pool.query(statement, [before])).rowCount === batch);
  }
}

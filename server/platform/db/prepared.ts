import { sql } from "kysely";
import { preparedMark } from "./client.ts";

/**
 * The end of a statement that is run often: it is planned once in each connection, by the values of its first runs, instead
 * of each time. Only for texts that are always the same, and whose best plan does not depend on the values.
 */
export const prepared = sql.raw<unknown>(preparedMark);

import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../support/database.ts";
import { readSources } from "./sources.ts";
import { readStatements, type Statement } from "./statements.ts";

const database = await createTestDatabase();
const client = new pg.Client(database.settings);
await client.connect();
after(async () => {
  await client.end();
  await database.drop();
});

/** What PostgreSQL says of a statement that it has prepared but does not run. */
class Description implements pg.Submittable {
  readonly columns: Promise<readonly pg.FieldDef[]>;
  readonly #text: string;
  readonly #done = Promise.withResolvers<readonly pg.FieldDef[]>();
  #fields: readonly pg.FieldDef[] = [];

  constructor(text: string) {
    this.#text = text;
    this.columns = this.#done.promise;
  }

  submit(connection: pg.Connection): void {
    connection.parse({ name: "", text: this.#text, types: [] }, true);
    connection.describe({ type: "S", name: "" }, true);
    connection.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#fields = fields;
  }

  handleError(error: Error): void {
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    this.#done.resolve(this.#fields);
  }
}

async function describe(text: string): Promise<readonly pg.FieldDef[]> {
  const description = new Description(text);
  client.query(description);
  return description.columns;
}

/** Kinds of values that node-postgres reads from a type; JSON can be any. */
const kindsByType: Readonly<Record<string, string>> = {
  bool: "boolean",
  int2: "number",
  int4: "number",
  oid: "number",
  float4: "number",
  float8: "number",
  date: "Date",
  timestamp: "Date",
  timestamptz: "Date",
  bytea: "Buffer",
  interval: "object",
  void: "void",
  point: "object",
};

async function readKinds(): Promise<Map<number, string | null>> {
  const { rows } = await client.query<{ oid: number; name: string; category: string }>(
    "select oid, typname::text as name, typcategory::text as category from pg_type",
  );
  return new Map(
    rows.map(({ oid, name, category }) => [
      oid,
      /^jsonb?$/.test(name) ? null : category === "A" ? "array" : (kindsByType[name] ?? "string"),
    ]),
  );
}

const kinds = await readKinds();

/** How a statement's row type differs from what PostgreSQL describes. */
async function findProblems({ place, texts, columns }: Statement): Promise<string[]> {
  const problems: string[] = [];
  for (const text of columns === null ? [] : (texts ?? [])) {
    const described = await describe(text).catch((error: unknown) => String(error));
    if (typeof described === "string") {
      problems.push(`${place}: ${described}`);
      continue;
    }
    const names = new Set(described.map(({ name }) => name));
    for (const [name, { isOptional }] of columns ?? [])
      if (!isOptional && !names.has(name)) problems.push(`${place}: the statement has no ${name}`);
    for (const { name, dataTypeID } of described) {
      const column = columns?.get(name);
      const kind = kinds.get(dataTypeID) ?? null;
      // What a function with an effect returns.
      if (kind === "void") continue;
      if (column === undefined) problems.push(`${place}: the type has no ${name}`);
      else if (kind !== null && column.kinds?.some((each) => each !== kind))
        problems.push(`${place}: ${name} is ${kind}, in the type ${column.kinds.join(" or ")}`);
    }
  }
  return problems;
}

/** Those of product code: `pool.query<Row>(…)` and Kysely's sql<Row>`…`.execute(…). */
const statements = readSources([".ts"])
  .filter(({ path }) => /^(server|cli|demo)\//.test(path) && !/\.test\.ts$|\/test\//.test(path))
  .flatMap(readStatements);

test("the row types of SQL statements have the columns that PostgreSQL describes", async () => {
  // A table that the verification of backups creates.
  await client.query("create temporary table backed_up (key text)");
  const problems: string[] = [];
  for (const statement of statements) problems.push(...(await findProblems(statement)));
  assert.deepEqual(problems, []);
});

test("few statements are put together in ways that this test can't read", () => {
  const unread = statements.filter(({ texts, columns }) => texts === null || columns === null);
  assert.ok(
    statements.length > 400 && unread.length <= 74,
    `${unread.length} of ${statements.length}:\n${unread.map(({ place }) => place).join("\n")}`,
  );
});

test("a wrong column, kind or table is found, also in one branch of a text and in parts of it", async () => {
  const text = `
    const named = (alias: string) => \`\${alias}.name\`;
    const isLive = sql\`deactivated_at is null\`;
    interface Row { readonly id: string; readonly role?: "admin" | "member" }
    export async function example(pool, isLong, id) {
      await pool.query<Row & { name: string }>(\`select u.id, \${named("u")} from users u where id = $1\`, [id]);
      await pool.query<{ count: number }>("select count(*) as count from users");
      await pool.query<{ id: string }>({ name: "example", text: "select id, name from users" });
      await pool.query<{ id: string; created: Date | null }>(\`select id\${isLong ? ", created_at as created" : ""} from users\`);
      await pool.query<{ id: string }>("select id from user");
      await sql<{ sees: readonly string[] | null }>\`select teams as sees from users where \${isLive} and id = \${id}\`.execute(pool);
      await sql<{ at: string }>\`select created_at as at from users where \${isLive} and id = \${id}\`.execute(pool);
    }`;
  const found = readStatements({ path: "server/example.ts", text });
  const problems: string[][] = [];
  for (const statement of found) problems.push(await findProblems(statement));
  assert.deepEqual(
    problems.map((list) => list.map((problem) => problem.replace(/^server\/example\.ts:\d+: /, ""))),
    [
      [],
      ["count is string, in the type number"],
      ["the type has no name"],
      ["the statement has no created"],
      ['error: column "id" does not exist'],
      ['error: column "teams" does not exist'],
      ["at is Date, in the type string"],
    ],
  );
});

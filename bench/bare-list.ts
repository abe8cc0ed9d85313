import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { timeCursor } from "../server/platform/http/page.ts";

const cursorFormat = timeCursor("recordings");

/** What a list costs at the very least: `node:http`, `pg`, one statement, `JSON.stringify`, nothing else. */
export interface BareListTask {
  readonly pool: pg.PoolConfig;
  /** The response of each path. */
  readonly statements: Readonly<Record<string, pg.QueryConfig>>;
  readonly pageSize: number;
}

interface Row {
  readonly at: Date;
  readonly id: string;
  readonly json: unknown;
}

process.on("message", ({ pool: settings, statements, pageSize }: BareListTask) => {
  const pool = new pg.Pool(settings);
  const server = createServer((request, response) => {
    request.resume().on("end", async () => {
      const statement = statements[request.url ?? ""];
      if (statement === undefined) return response.writeHead(404).end();
      const { rows } = await pool.query<Row>(statement);
      const page = rows.slice(0, pageSize);
      const last = page.at(-1);
      const cursor = rows.length > page.length && last ? cursorFormat.encode(last) : null;
      const text = JSON.stringify({ cursor, recordings: page.map((row) => row.json) });
      response.writeHead(200, {
        "content-type": "application/json; charset=utf-8",
        "content-length": Buffer.byteLength(text),
      });
      return response.end(text);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
});
process.on("disconnect", () => process.exit());

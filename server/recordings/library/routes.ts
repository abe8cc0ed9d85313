import * as contract from "../../../contract/recordings/library.ts";
import { readVisible } from "../../people/access/read-visible.ts";
import { viewerOf } from "../../people/access/viewer.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { readFor } from "../../platform/db/database.ts";
import { readWithinTime } from "../../platform/db/within-time.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import { readPage } from "../../platform/http/page.ts";
import { type Api, ReadyPage, route } from "../../platform/http/routing/route.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { thumbnailLinks } from "../recordings/json/links.ts";
import { findRareTitles } from "../recordings/list/rare-titles.ts";
import { changeMany } from "./bulk.ts";
import { setFavorite } from "./favorites.ts";
import { countLibrary, libraryCursor, listLibrary } from "./list.ts";

const pageSize = 100;

/** How long the first page waits for the count. */
const countMs = 2000;

/** The web app's list of recordings: order, number, favorites, and changes of many (management API). */
export function libraryRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl">;
  },
): void {
  const { db, store, signer, config } = deps;

  route(api, contract.listLibrary, async ({ principal, body, request }) => {
    const { sort = "newest", filter = {} } = body;
    for (const name of ["attendance", "favorite"] as const)
      if (principal.scope === "workspace" && filter[name])
        throw invalidInput([
          { pointer: `/filter/${name}`, detail: "needs a personal token; this is a workspace token" },
        ]);
    const thumbnails = thumbnailLinks(signer, viewerOf(principal));
    const { title_search } = filter;
    const rareTitles =
      title_search === undefined
        ? null
        : await readFor(db, principal, (source) =>
            findRareTitles(source, principal.workspaceId, title_search),
          );
    const asked = { principal, filter, rareTitles };
    // A count that takes too long or fails is left out rather than the page.
    const counting =
      body.cursor === undefined
        ? readFor(db, principal, (source) =>
            readWithinTime(source, countMs, (limited) => countLibrary(limited, asked, contract.maxCounted)),
          ).catch((error: unknown) => {
            request.log.warn({ err: error }, "the library was not counted");
            return null;
          })
        : null;
    const { rows, cursor } = await readPage({
      cursor: body.cursor,
      size: pageSize,
      format: libraryCursor(sort),
      fetch: (page) =>
        readVisible(
          db,
          principal,
          (source) => listLibrary(source, { ...page, ...asked, sort, baseUrl: config.baseUrl, thumbnails }),
          (recordings) => recordings.map(({ id }) => id),
        ),
      positionOf: (row) => row,
    });
    const count = await counting;
    const recordings = rows.map((row) => row.json).join(",");
    return new ReadyPage(cursor, `"recordings":[${recordings}],"count":${count}`);
  });

  route(api, contract.addFavorite, ({ principal, params }) =>
    setFavorite(db, principal, params.recording_id, true),
  );
  route(api, contract.removeFavorite, ({ principal, params }) =>
    setFavorite(db, principal, params.recording_id, false),
  );

  route(api, contract.changeRecordings, ({ principal, body, request }) =>
    changeMany(
      {
        db,
        store,
        onError: (error) =>
          request.log.warn(
            { err: error },
            "could not remove the files of a deleted recording; the sweep will",
          ),
        onFailure: (error) => request.log.error({ err: error }, "a recording could not be changed"),
      },
      { principal, actor: actorOf(request) },
      body.recording_ids,
      body.change,
    ),
  );
}

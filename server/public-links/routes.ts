import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { parseTimestamp } from "../../contract/common.ts";
import * as contract from "../../contract/public-links.ts";
import { hashPassword } from "../accounts/passwords.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { LinkSigner } from "../links/signer.ts";
import { foresee } from "./agree.ts";
import { findLinks, type Subject } from "./queries.ts";
import * as service from "./service.ts";

/** null takes a value away, rather than leaving it out. */
const options = { keepNulls: true };

/** The operations by which people make, change and take back links. */
export function publicLinkRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl">;
  },
): void {
  const { db, signer, config } = deps;

  const asking = (request: FastifyRequest) => ({ principal: request.principal, actor: actorOf(request) });
  const list = async (request: FastifyRequest, subject: Subject) => {
    await service.checkMayList(deps, request.principal, subject);
    return { links: await findLinks(db.kysely, signer, config.baseUrl, { subject }) };
  };
  const show = async (linkId: string) => {
    const [link] = await findLinks(db.kysely, signer, config.baseUrl, { linkId });
    // Taken back right after the change.
    if (link === undefined) throw new ProblemError("not_found", "the link was taken back");
    return link;
  };
  const create = async (
    request: FastifyRequest,
    subject: Subject,
    body: z.output<typeof contract.PublicLinkInput>,
  ) => show(await service.createLink(deps, asking(request), subject, await readInput(request, body)));

  route(api, contract.listRecordingLinks, ({ request, params }) =>
    list(request, { kind: "recording", id: params.recording_id }),
  );
  route(
    api,
    contract.createRecordingLink,
    ({ request, params, body }) => create(request, { kind: "recording", id: params.recording_id }, body),
    options,
  );
  route(api, contract.listHighlightLinks, ({ request, params }) =>
    list(request, { kind: "highlight", id: params.highlight_id }),
  );
  route(
    api,
    contract.createHighlightLink,
    ({ request, params, body }) => create(request, { kind: "highlight", id: params.highlight_id }, body),
    options,
  );
  route(api, contract.listStoryLinks, async ({ request, params }) => ({
    ...(await list(request, { kind: "story", id: params.story_id })),
    ...(await foresee(db, request.principal, params.story_id)),
  }));
  route(
    api,
    contract.createStoryLink,
    ({ request, params, body }) => create(request, { kind: "story", id: params.story_id }, body),
    options,
  );

  route(
    api,
    contract.updatePublicLink,
    async ({ request, params, body }) => {
      const input = { ...(await readInput(request, body)), agrees: body.agree === true };
      await service.changeLink(deps, asking(request), params.link_id, input);
      return show(params.link_id);
    },
    options,
  );
  route(api, contract.deletePublicLink, ({ request, params }) =>
    service.revokeLink(deps, asking(request), params.link_id),
  );
}

/** Hashing a password takes time and memory on purpose, so it is done before anything is locked. */
async function readInput(
  request: FastifyRequest,
  body: z.output<typeof contract.PublicLinkInput>,
): Promise<service.LinkInput> {
  const { expires_datetime: expires, password } = body;
  const { passwordWork } = request.server;
  return {
    expiresAt: typeof expires === "string" ? parseTimestamp(expires) : expires,
    passwordHash:
      typeof password === "string" ? await passwordWork.run(() => hashPassword(password)) : password,
    allowDownload: body.allow_download,
    startMs: body.start,
  };
}

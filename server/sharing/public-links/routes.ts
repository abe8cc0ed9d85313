import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import * as contract from "../../../contract/sharing/public-links.ts";
import { parseTimestamp } from "../../../shared/times/timestamp.ts";
import { hashPassword } from "../../people/accounts/sign-in/passwords.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { findLinks, type Subject } from "../../recordings/public-link-records/queries.ts";
import * as service from "./service.ts";

/** null removes a value; undefined leaves it unchanged. */
const options = { keepNulls: true };

/** The management API's operations to create, change and revoke public links. */
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

  const requesterOf = (request: FastifyRequest) => ({
    principal: request.principal,
    actor: actorOf(request),
  });
  const list = async (request: FastifyRequest, subject: Subject) => {
    await service.checkMayList(deps, request.principal, subject);
    return { links: await findLinks(db.kysely, signer, config.baseUrl, { subject }) };
  };
  const show = async (linkId: string) => {
    const [link] = await findLinks(db.kysely, signer, config.baseUrl, { linkId });
    // The link was revoked right after the change.
    if (link === undefined) throw new ProblemError("not_found", because("public_link_revoked"));
    return link;
  };
  const create = async (
    request: FastifyRequest,
    subject: Subject,
    body: z.output<typeof contract.PublicLinkInput>,
  ) => show(await service.createLink(deps, requesterOf(request), subject, await readInput(request, body)));

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
    ...(await service.previewStoryLink(db, request.principal, params.story_id)),
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
      const input = { ...(await readInput(request, body)), approves: body.agree === true };
      await service.changeLink(deps, requesterOf(request), params.link_id, input);
      return show(params.link_id);
    },
    options,
  );
  route(api, contract.deletePublicLink, ({ request, params }) =>
    service.revokeLink(deps, requesterOf(request), params.link_id),
  );
}

/** Hashes the password before anything is locked, because hashing is slow and needs memory by design. */
async function readInput(
  request: FastifyRequest,
  body: z.output<typeof contract.PublicLinkInput>,
): Promise<service.LinkInput> {
  const { expires_datetime: expires, password } = body;
  const { passwordWork } = request.server;
  return {
    expiresAt: typeof expires === "string" ? parseTimestamp(expires) : expires,
    passwordHash:
      typeof password === "string"
        ? await passwordWork.run((cost) => hashPassword(password, cost))
        : password,
    allowDownload: body.allow_download,
    includeSummary: body.include_summary,
    startMs: body.start,
  };
}

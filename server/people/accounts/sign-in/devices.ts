import { createHash, randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { sql } from "kysely";
import { originOf } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { addCookie, ownCookie, ownCookieOf } from "./session-cookie.ts";
import { isKnownIpPrefix } from "./throttle.ts";

/** How long a browser is known after its last sign-in. Browsers keep no cookie longer than 400 days. */
const knownDays = 365;

/** How many browsers of a user are known, those used last: programs that sign in keep no cookie. */
const maxDevices = 50;

/** 256 random bits as base64url. */
const devicePattern = /^[A-Za-z0-9_-]{43}$/;

/** Where a sign-in comes from. */
export interface SignInOrigin {
  readonly ip: string;
  readonly userAgent: string;
  /** The browser; left out: a sign-in without one, as in tests. */
  readonly device?: SignInDevice;
}

interface SignInDevice {
  readonly value: string;
  /** Has the response set the cookie again. */
  readonly keep: () => void;
  /** Notifies a user who signs in with a browser that they have not used before. */
  readonly report: ReportDevice;
}

type ReportDevice = (
  tx: Tx,
  userId: string,
  from: { readonly ip: string; readonly userAgent: string },
) => Promise<void>;

declare module "fastify" {
  interface FastifyInstance {
    reportDevice: ReportDevice;
  }
  interface FastifyRequest {
    /** The cookie of the browser that has just signed in. */
    deviceCookie: string | null;
  }
}

/** Sets the cookie by which browsers that have signed in are known. */
export function setDeviceCookies(
  app: FastifyInstance,
  deps: { readonly baseUrl: string; readonly report: ReportDevice; readonly jobs: Pick<JobQueue, "wake"> },
): void {
  app.decorate("reportDevice", deps.report);
  app.decorateRequest("deviceCookie", null);
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (request.deviceCookie !== null) {
      addCookie(reply, ownCookie(deps.baseUrl, "device", request.deviceCookie, knownDays * 86_400));
      deps.jobs.wake();
    }
    done();
  });
}

/** Where a request to sign in comes from. */
export function signInOriginOf(request: FastifyRequest): SignInOrigin {
  const given = ownCookieOf(request, request.server.ownOrigin, "device");
  const value =
    given !== undefined && devicePattern.test(given) ? given : randomBytes(32).toString("base64url");
  return {
    ...originOf(request),
    device: {
      value,
      keep: () => {
        request.deviceCookie = value;
      },
      report: request.server.reportDevice,
    },
  };
}

/**
 * Remembers the browser of a user who is about to sign in, and notifies them of a new one. The first sign-in of an account is
 * not reported. Without any known browser, as after an upgrade, a network that they have signed in from is enough.
 */
export async function noteDevice(
  tx: Tx,
  user: { readonly id: string; readonly email_key: string },
  { device, ip, userAgent }: SignInOrigin,
): Promise<void> {
  if (device === undefined) return;
  const hash = createHash("sha256").update(`device:${device.value}`).digest();
  device.keep();
  const known = await tx
    .updateTable("known_devices")
    .set({ last_used_at: sql<Date>`now()` })
    .where("user_id", "=", user.id)
    .where("hash", "=", hash)
    .returning("user_id")
    .executeTakeFirst();
  if (known !== undefined) return;
  const before = await tx
    .selectFrom("users as u")
    .select((eb) => [
      "u.last_signed_in_at",
      eb
        .exists(eb.selectFrom("known_devices as d").select("d.hash").whereRef("d.user_id", "=", "u.id"))
        .as("any"),
    ])
    .where("u.id", "=", user.id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("known_devices")
    .values({ user_id: user.id, hash })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await sql`
    delete from known_devices where user_id = ${user.id} and hash in (
      select hash from known_devices where user_id = ${user.id}
      order by last_used_at desc, created_at desc offset ${maxDevices})`.execute(tx);
  if (before.last_signed_in_at === null) return;
  if (!before.any && (await isKnownIpPrefix(tx, user.email_key, ip))) return;
  await device.report(tx, user.id, { ip, userAgent });
}

async function sweepDevices(db: Database): Promise<void> {
  await sql`
    delete from known_devices where last_used_at < now() - make_interval(days => ${knownDays})`.execute(
    db.kysely,
  );
}

export const deleteOldDevicesKind = defineRecurringJob({
  name: "delete_old_devices",
  label: (i18n) => i18n.t("Delete old devices"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => sweepDevices(db),
});

import { type Json, write } from "./json.ts";
import type { Random } from "./random.ts";
import { type FuzzRequest, type Parts, request } from "./request.ts";
import { fillPath, type Target } from "./targets.ts";
import type { World } from "./world.ts";

export interface Context {
  readonly world: World;
  readonly targets: readonly Target[];
}

/** Creates one request of a kind. */
export type Generator = (context: Context, random: Random) => FuzzRequest;

export function targetNamed(context: Context, id: string): Target {
  const target = context.targets.find((candidate) => candidate.id === id);
  if (target === undefined) throw new Error(`the contract has no operation ${id}`);
  return target;
}

/** A valid request to an operation with an admin's token, to be mutated. */
export function correctCall(context: Context, random: Random, target: Target): Parts {
  return {
    method: target.method,
    path: fillPath(target.path, context.world.ids, random),
    headers: [
      ["Authorization", `Bearer ${context.world.tokens.admin}`],
      ["Public-Api-Version", random.pick(target.versions)],
      ["Content-Type", "application/json"],
    ],
    ...(target.sample === null ? {} : { body: Buffer.from(write(target.sample)) }),
  };
}

/** A request with any token and version, mostly valid ones. */
export function someCall(context: Context, random: Random, target: Target): Parts {
  const call = correctCall(context, random, target);
  const { admin, member, workspace } = context.world.tokens;
  const token = random.chance(0.6) ? admin : random.pick([member, workspace]);
  const version = random.chance(0.9)
    ? random.pick(target.versions)
    : random.pick(["2025-10-31", "2026-10-01"]);
  return {
    ...call,
    headers: [
      ["Authorization", `Bearer ${token}`],
      ["Public-Api-Version", version],
      ["Content-Type", "application/json"],
    ],
  };
}

/** A request to the target with this body, even if the operation takes none. */
export function callWithBody(
  kind: string,
  context: Context,
  random: Random,
  target: Target,
  body: Json | Buffer,
  more: Partial<FuzzRequest> = {},
): FuzzRequest {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(write(body));
  const chunks = random.chance(0.15) ? { chunks: [1 + random.int(40), 1 + random.int(9000)] } : {};
  return request(kind, { ...someCall(context, random, target), body: bytes, ...chunks }, { target, ...more });
}

/** Whether the server reads the body of this method. */
export function readsBody(target: Target): boolean {
  return target.method !== "GET";
}

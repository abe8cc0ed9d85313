import { z } from "zod";
import { Uuid } from "./common.ts";
import { operation } from "./operation.ts";

export const Session = z.strictObject({
  user: z.strictObject({
    id: Uuid,
    name: z.string(),
    email: z.string(),
    role: z.enum(["admin", "member", "viewer"]),
  }),
  workspace: z.strictObject({ id: Uuid, name: z.string() }),
});

export const getSession = operation({
  id: "getSession",
  tag: "Accounts",
  gate: "every_version",
  permission: "account",
  method: "GET",
  path: "/_/api/v1/session",
  summary: "Get Session",
  description: "Who is signed in.",
  response: Session,
  errors: [],
});

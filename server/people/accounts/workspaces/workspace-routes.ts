import { sql } from "kysely";
import type { z } from "zod";
import * as contract from "../../../../contract/accounts/account-teams.ts";
import { languageOf } from "../../../../contract/workspace/spoken-language.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { invalidInput } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { AccountError, readDomain } from "../service.ts";
import { revokeSelfRegisteredApps } from "../tokens/oauth-grants.ts";

/** Settings of a workspace. */
export function workspaceRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly config: Pick<Config, "newRecordingShareState" | "signInProviders">;
  },
): void {
  const { db, config } = deps;

  const read = async (id: string): Promise<z.output<typeof contract.WorkspaceSettings>> => {
    const row = await db.kysely
      .selectFrom("workspaces")
      .select([
        "id",
        "name",
        "email_domains",
        "new_recording_share_state",
        "recording_added",
        "spoken_language",
        "vocabulary",
        "resolves_old_ids",
        "recording_consent",
        "trash_days",
        "voice_profiles",
        "self_registered_apps",
      ])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    const own = row.new_recording_share_state as "restricted" | "workspace" | null;
    const provider =
      config.signInProviders.find(({ createUsers }) => createUsers) ?? config.signInProviders[0];
    return {
      id: row.id,
      name: row.name,
      email_domains: row.email_domains,
      new_recordings: own ?? "server_setting",
      new_recording_share_state: own ?? config.newRecordingShareState,
      recording_added: row.recording_added as "when_ready" | "immediately",
      spoken_language: row.spoken_language,
      vocabulary: row.vocabulary,
      resolves_old_ids: row.resolves_old_ids,
      recording_consent: row.recording_consent,
      trash_days: row.trash_days,
      voice_profiles: row.voice_profiles,
      self_registered_apps: row.self_registered_apps,
      single_sign_on:
        provider === undefined ? null : { name: provider.name, makes_accounts: provider.createUsers },
    };
  };

  route(api, contract.getWorkspace, ({ principal }) => read(principal.workspaceId));

  route(api, contract.updateWorkspace, async ({ principal, request, body }) => {
    const { email_domains, new_recordings, spoken_language, recording_consent, ...asGiven } = body;
    const changes = {
      ...asGiven,
      ...(email_domains === undefined ? {} : { email_domains: readDomains(email_domains) }),
      ...(new_recordings === undefined
        ? {}
        : { new_recording_share_state: new_recordings === "server_setting" ? null : new_recordings }),
      ...(spoken_language === undefined ? {} : { spoken_language: languageOf(spoken_language) }),
      ...(recording_consent === undefined ? {} : { recording_consent: recording_consent || null }),
    };
    if (Object.keys(changes).length > 0)
      await db.kysely.transaction().execute(async (tx) => {
        await tx.updateTable("workspaces").set(changes).where("id", "=", principal.workspaceId).execute();
        if (changes.voice_profiles === false) await deleteUnnamedVoices(tx, principal.workspaceId);
        if (changes.self_registered_apps === false) await revokeSelfRegisteredApps(tx, principal.workspaceId);
        await recordAudit(tx, actorOf(request), {
          action: "settings_changed",
          subject: { type: "workspace", id: principal.workspaceId },
          details: changes,
        });
      });
    return read(principal.workspaceId);
  });
}

/** Nothing is kept of the voices of speakers who were not remembered. */
async function deleteUnnamedVoices(tx: Tx, workspaceId: string): Promise<void> {
  await sql`
    delete from recording_voices v using recordings r
    where r.id = v.recording_id and r.workspace_id = ${workspaceId}`.execute(tx);
}

function readDomains(given: readonly string[]): string[] {
  const domains = given.map((text, index) => {
    try {
      return readDomain(text);
    } catch (error) {
      if (error instanceof AccountError)
        throw invalidInput([{ pointer: `/email_domains/${index}`, detail: error.message }]);
      throw error;
    }
  });
  return [...new Set(domains)];
}

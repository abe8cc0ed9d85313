import { chooseLanguage } from "../../../shared/languages.ts";
import type { Executor } from "../../platform/db/database.ts";

/**
 * The language of Parley's own words in what is sent of a recording: that of the workspace's summaries, else the meeting's.
 * @param meeting its language; null: it is not known.
 */
export async function messageLanguage(
  db: Executor,
  workspaceId: string,
  meeting: string | null,
): Promise<string> {
  const settings = await db
    .selectFrom("intelligence_settings")
    .select("language")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  const wanted = settings?.language ?? meeting;
  return chooseLanguage(wanted === null ? [] : [wanted]);
}

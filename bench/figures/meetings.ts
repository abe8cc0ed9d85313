import type { Principal } from "../../server/platform/auth/principal.ts";
import { findPassages } from "../../server/recordings/search/passages.ts";
import { appRequest, ask, type Client } from "../api.ts";
import type { Bench } from "../bench.ts";
import { makeCommonQuestions, makeQuestions, withActionItems, withTranscripts } from "../data/meetings.ts";
import { compareRequests, median, p95 } from "../load.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";

/** Whether a page of action items costs the same however many there are, and how long a question's search takes. */
export async function measureMeetings({ postgres, start, sizes }: Bench): Promise<Figure[]> {
  const { large, small, spoken } = sizes.meetings;
  const few = await withActionItems(postgres, "parley_few_items", small);
  const fewServer = await start(few, { PARLEY_ROLE: "api" });
  const isLarger = large > small;
  const data = { small: few, large: isLarger ? await withActionItems(postgres, "parley_items", large) : few };
  const servers = {
    small: fewServer,
    large: isLarger ? await start(data.large, { PARLEY_ROLE: "api" }) : fewServer,
  };
  const figures: Figure[] = [];
  const counts = `${(10 * large).toLocaleString("en")} to ${(10 * small).toLocaleString("en")}`;
  for (const [name, query, token] of [
    ["page of action items", "", "workspaceToken"],
    ["page of a user's open ones", "?assignee=me&state=pending", "memberToken"],
    ["page of those with a word", "?text=number%207", "workspaceToken"],
  ] as const) {
    const page = (size: "large" | "small") => {
      const client: Client = { server: servers[size], token: data[size].made[token] };
      return appRequest(client, "GET", `/action-items${query}`);
    };
    for (const size of ["large", "small"] as const) {
      const { action_items: items } = await ask<{ action_items: unknown[] }>(page(size));
      if (items.length === 0) throw new Error(`${name} is empty`);
    }
    const compared = await compareRequests(sizes, "latency", page("small"), page("large"));
    figures.push(ratioFigure(`latency: ${name}, ${counts}`, " ms", compared, { max: 1.3 }));
  }
  for (const server of new Set(Object.values(servers))) await server.stop();
  const { db, made } = await withTranscripts(postgres, "parley_questions", spoken);
  const principal: Principal = {
    ...{ tokenId: "", tokenType: "personal_access_token", scope: "personal", role: "member" },
    ...{ workspaceId: made.workspaceId, userId: made.workspaceId, emailKey: "", name: "", expiresAt: null },
    sees: [made.workspaceId],
  };
  for (const [name, questions, max] of [
    ["a question", makeQuestions(sizes.meetings.questions), 1000],
    ["sixteen common words", makeCommonQuestions(sizes.meetings.questions), 700],
  ] as const) {
    const times: number[] = [];
    for (const isCounted of [false, true])
      for (const question of questions) {
        const startedAt = performance.now();
        const found = await findPassages(db.pool, principal, question, {}, 40);
        if (found.length === 0) throw new Error(`nothing was found for ${question}`);
        if (isCounted) times.push(performance.now() - startedAt);
      }
    const measured = `median ${median(times).toFixed(0)} ms, p95 ${p95(times).toFixed(0)} ms`;
    figures.push(
      figure(`search of ${name} in ${spoken.toLocaleString("en")} recordings`, p95(times), measured, " ms", {
        max,
      }),
    );
  }
  return figures;
}

import type { z } from "zod";
import type { AskFilter } from "../../../contract/ask/ask.ts";
import { foldName } from "../../../shared/fold-case.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { readDates } from "./dates.ts";
import { findNames, findPeopleNamed } from "./queries.ts";

export type Filter = z.output<typeof AskFilter>;

/** Words that say that the name beside them is a team's, or a meeting type's. */
const teamWords = ["team", "équipe", "equipe", "equipo", "squadra"];
const meetingWords = [
  ...["meeting", "meetings", "call", "calls", "besprechung", "besprechungen", "réunion", "réunions"],
  ...["reunión", "reuniones", "riunione", "riunioni", "reunião", "reuniões", "gesprek", "gesprekken"],
];

/** More words than this are not searched for names. */
const maxNames = 12;

/**
 * The filters that a question names: dates, one person, a team, a meeting type. Only what is certain: a name that several
 * people share, or that may be another word, is none.
 */
export async function deriveFilter(
  db: Database,
  principal: Principal,
  question: string,
  now: Date,
): Promise<Filter> {
  const dates = readDates(question, now);
  const text = ` ${wordsOf(question)} `;
  const { teams, types } = await findNames(db.kysely, principal.workspaceId);
  const [team, ...otherTeams] = teams.filter(({ name }) => isNamed(text, name, teamWords));
  const [type, ...otherTypes] = types.filter(
    ({ name }) => isNamed(text, name, meetingWords) || (/[\s:-]/.test(name.trim()) && has(text, name)),
  );
  const [person, ...otherPeople] = await findPeopleNamed(db.pool, principal, namesIn(question));
  return {
    ...(dates === null ? {} : { from: dates.from.toISOString(), to: dates.to.toISOString() }),
    ...(person === undefined || otherPeople.length > 0 ? {} : { person }),
    ...(team === undefined || otherTeams.length > 0 ? {} : { team: team.id }),
    ...(type === undefined || otherTypes.length > 0 ? {} : { meeting_type: type.id }),
  };
}

function wordsOf(text: string): string {
  return foldName(text)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

function has(text: string, name: string): boolean {
  const words = wordsOf(name);
  return words !== "" && text.includes(` ${words} `);
}

function isNamed(text: string, name: string, beside: readonly string[]): boolean {
  if (wordsOf(name) === "") return false;
  return beside.some((word) => has(text, `${word} ${name}`) || has(text, `${name} ${word}`));
}

/** Words of a question that may be a name, as they are capitalized: each alone, and with the next ones. */
function namesIn(question: string): string[] {
  const words = question.match(/[\p{L}\p{M}\p{N}.'’-]+/gu) ?? [];
  const trimmed = words.map((word) => word.replace(/(?:['’]s?|\.)$/u, ""));
  const isCapital = (word: string | undefined) => word !== undefined && /^\p{Lu}\p{L}/u.test(word);
  return [
    ...new Set(
      trimmed.flatMap((word, at) =>
        isCapital(word)
          ? [1, 2, 3].flatMap((count) => {
              const name = trimmed.slice(at, at + count);
              return name.length === count && isCapital(name.at(-1)) ? [name.join(" ")] : [];
            })
          : [],
      ),
    ),
  ].slice(0, 3 * maxNames);
}

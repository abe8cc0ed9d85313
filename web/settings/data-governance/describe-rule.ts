import { plural, t } from "@lingui/core/macro";
import type { Conditions } from "../../api/settings/retention.ts";

/** Names of teams and meeting types, by id. */
export interface Names {
  readonly teams: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

/** Describes a rule: `Deletes recordings that started more than 90 days ago. Only recordings of type Interview.` */
export function describeRule(rule: Conditions, { teams, types }: Names): string {
  const { team_id: team, meeting_type_id: type, tag, scope } = rule;
  const typeName = type ? types.get(type) : undefined;
  const teamName = team ? teams.get(team) : undefined;
  return [
    describeAge(rule),
    scope === "internal" && t`Only recordings without guests.`,
    scope === "external" && t`Only recordings with guests.`,
    type &&
      (typeName === undefined
        ? t`Only recordings of a deleted type.`
        : t`Only recordings of type ${typeName}.`),
    tag && t`Only recordings with the tag “${tag}”.`,
    team &&
      (teamName === undefined
        ? t`Only recordings shared with a deleted team.`
        : t`Only recordings shared with ${teamName}.`),
  ]
    .filter((sentence) => typeof sentence === "string" && sentence !== "")
    .join(" ");
}

function describeAge({ older_than_days: days }: Conditions): string {
  return plural(days, {
    one: "Deletes recordings that started more than # day ago.",
    other: "Deletes recordings that started more than # days ago.",
  });
}

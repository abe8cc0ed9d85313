import { t } from "@lingui/core/macro";
import type { Conditions } from "../../api/settings/retention.ts";

/** Names of teams and meeting types, by id. */
export interface Names {
  readonly teams: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

/** Describes a rule: `Deletes recordings of type Interview that started more than 90 days ago.` */
export function describeRule(rule: Conditions, { teams, types }: Names): string {
  const { team_id: team, meeting_type_id: type, tag, scope, older_than_days: days } = rule;
  const parts = [
    scope === "internal" ? "internal recordings" : "recordings",
    type ? `of type ${types.get(type) ?? t`that was deleted`}` : null,
    tag ? t`with the tag “${tag}”` : null,
    team ? `shared with ${teams.get(team) ?? t`a deleted team`}` : null,
    scope === "external" ? "with guests" : null,
  ];
  const what = parts.filter((part) => part !== null).join(" ");
  const age = days === 1 ? "a day" : t`${days.toLocaleString()} days`;
  return t`Deletes ${what} that started more than ${age} ago.`;
}

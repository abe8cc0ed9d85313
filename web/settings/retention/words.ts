import type { Conditions } from "../../api/retention.ts";

/** Names of what a rule refers to, by id. */
export interface Names {
  readonly teams: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, string>;
}

/** A rule as a sentence: `Recordings of type Interview that began more than 90 days ago are deleted.` */
export function ruleInWords(rule: Conditions, { teams, types }: Names): string {
  const { team_id: team, meeting_type_id: type, tag, scope, older_than_days: days } = rule;
  const parts = [
    scope === "internal" ? "Internal recordings" : "Recordings",
    type ? `of type ${types.get(type) ?? "that is gone"}` : null,
    tag ? `with the tag “${tag}”` : null,
    team ? `shared with ${teams.get(team) ?? "a team that is gone"}` : null,
    scope === "external" ? "in which somebody from outside took part" : null,
  ];
  const what = parts.filter((part) => part !== null).join(" ");
  return `${what} ${parts.slice(1).some((part) => part !== null) ? "and that" : "that"} began more than ${
    days === 1 ? "a day" : `${days.toLocaleString()} days`
  } ago are deleted.`;
}

/** `1 recording`, `1,200 recordings`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

import type { View } from "../../api/recording.ts";
import { namesInLine } from "../../common/person.ts";

type Facts = Pick<View, "participants" | "shared_users"> & {
  readonly recording: Pick<View["recording"], "share_state" | "recorders" | "teams">;
};

/**
 * One sentence on who can see a recording, and why; by the rule of `recording_grants`.
 * @param members of the workspace: those who took part see it too.
 * @param links whether the public has a link that works; undefined for those who aren't told.
 */
export function whoSees(
  { recording, participants, shared_users }: Facts,
  workspace: string,
  members: readonly { readonly id: string; readonly name: string; readonly email: string }[],
  links?: "none" | "expired" | "some",
): string {
  if (recording.share_state === "public" && links === "none")
    return `Everybody in ${workspace} can see this. It has no public link at the moment, so nobody else can: make one below.`;
  if (recording.share_state === "public" && links === "expired")
    return `Everybody in ${workspace} can see this. Its public links have expired, so nobody else can: make another below.`;
  if (recording.share_state === "public")
    return `Anyone with a public link can see this, without signing in, and so can everybody in ${workspace}.`;
  if (recording.share_state === "workspace")
    return `Everybody in ${workspace} can see this, because it is shared with the workspace.`;
  const present = new Set(participants.map(({ email }) => email?.toLowerCase()));
  const recorders = new Set(recording.recorders.map(({ id }) => id));
  const tookPart = members.filter(
    (member) => present.has(member.email.toLowerCase()) && !recorders.has(member.id),
  );
  const reasons = [
    ...listed(recording.recorders, "recorded it"),
    ...listed(tookPart, "took part"),
    ...listed(shared_users, "shared with them"),
    ...teamReason(recording.teams),
    "apps that work for the whole workspace",
  ];
  return `Only ${inWords(reasons)} can see this.`;
}

function listed(people: readonly { readonly name: string }[], why: string): string[] {
  return people.length === 0 ? [] : [`${namesInLine(people.map(({ name }) => name))} (${why})`];
}

function teamReason(teams: readonly { readonly name: string }[]): string[] {
  if (teams.length === 0) return [];
  const names = namesInLine(teams.map(({ name }) => name));
  return [`the ${teams.length === 1 ? "team" : "teams"} ${names}`];
}

function inWords(parts: readonly string[]): string {
  if (parts.length === 1) return parts[0] ?? "";
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

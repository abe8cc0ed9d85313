import { plural, t } from "@lingui/core/macro";
import type { View } from "../../api/recording/recording.ts";
import { namesInLine, namesInSentence } from "../../common/format/names.ts";

type Facts = Pick<View, "participants" | "shared_users"> & {
  readonly recording: Pick<View["recording"], "share_state" | "recorders" | "teams">;
};

/**
 * One sentence on who can see a recording and why, following the rules of `recording_grants`.
 * @param members of the workspace: participants among them see the recording too.
 * @param links whether a public link works; undefined for users who can't see links.
 */
export function whoSees(
  { recording, participants, shared_users }: Facts,
  workspace: string,
  members: readonly { readonly id: string; readonly name: string; readonly email: string }[],
  links?: "none" | "expired" | "some",
): string {
  if (recording.share_state === "public" && links === "none")
    return t`Visible to everyone in ${workspace}. It has no public link; create one below to share it outside.`;
  if (recording.share_state === "public" && links === "expired")
    return t`Visible to everyone in ${workspace}. Its public links have expired; create one below to share it outside.`;
  if (recording.share_state === "public")
    return t`Visible to everyone in ${workspace}, and to anyone with a public link, without signing in.`;
  if (recording.share_state === "workspace") return t`Visible to everyone in ${workspace}.`;
  const present = new Set(
    participants.filter((one) => !one.is_invited).map(({ email }) => email?.toLowerCase()),
  );
  const recorders = new Set(recording.recorders.map(({ id }) => id));
  const attendees = members.filter(
    (member) => present.has(member.email.toLowerCase()) && !recorders.has(member.id),
  );
  const reasons = [
    ...listed(recording.recorders, (names, count) =>
      plural(count, { one: `${names} (owner)`, other: `${names} (owners)` }),
    ),
    ...listed(attendees, (names, count) =>
      plural(count, { one: `${names} (participant)`, other: `${names} (participants)` }),
    ),
    ...listed(shared_users, (names) => t`${names} (shared directly)`),
    ...listed(recording.teams, (names, count) =>
      plural(count, { one: `the team ${names}`, other: `the teams ${names}` }),
    ),
    t({ message: "workspace apps", comment: "in “Visible to …”" }),
  ];
  const seers = t`Visible to ${{ list: namesInSentence(reasons) }}.`;
  const invited = participants.filter((one) => one.lacks_access);
  if (invited.length === 0) return seers;
  const names = namesInLine(invited.map(({ name }) => name));
  return `${seers} ${t`Invited, without access until their attendance is confirmed in the People tab: ${names}.`}`;
}

function listed(
  all: readonly { readonly name: string }[],
  describe: (names: string, count: number) => string,
): string[] {
  return all.length === 0 ? [] : [describe(namesInLine(all.map(({ name }) => name)), all.length)];
}

import type { AppliedGroups } from "../../../people/accounts/sso/apply-groups.ts";
import type { ProvenIdentity } from "../../../people/accounts/sso/single-sign-on.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { type Html, html } from "../../../platform/html.ts";

/** Entries of a list that are shown at most. */
const maxShown = 30;

/** What Parley reads in the claims, each with what follows from it. @param applied null: the sign-in would be refused. */
export function describeIdentity(
  identity: ProvenIdentity,
  provider: SignInProvider,
  applied: AppliedGroups | null,
): Html {
  const rows: (readonly [string, string])[] = [
    ["Account at the provider", `${identity.subject} of ${identity.issuer}`],
    ["Email", describeEmail(identity, provider)],
    ["Name", identity.name ?? "none is sent; a new account is named like its email"],
    ["Groups", describeGroups(identity, provider)],
    ...(applied === null ? [] : describeApplied(applied, identity)),
    [
      "Back-channel logout",
      identity.sid === null
        ? "the provider sends no sid: its logout ends all of the user's sessions that it began"
        : "the provider sends a sid: its logout ends the session that belongs to it",
    ],
  ];
  return html`<h2>What Parley reads</h2>
${rows.map(([name, text]) => html`<p class="small"><strong>${name}</strong>: ${text}</p>`)}`;
}

function describeEmail({ email, isEmailVerified }: ProvenIdentity, { trustEmail }: SignInProvider): string {
  if (email === null) return "none is sent";
  if (isEmailVerified === false) return `${email}, which the provider says is not verified`;
  if (isEmailVerified === null)
    return `${email}; the provider doesn't say whether it is verified, and Trust emails is off`;
  return trustEmail ? `${email}, verified or trusted by Trust emails` : `${email}, verified by the provider`;
}

function describeGroups({ groups }: ProvenIdentity, provider: SignInProvider): string {
  switch (groups.kind) {
    case "off":
      return "not read, because the settings name no groups claim";
    case "missing":
      return `the provider sends no ${groups.claim}, so the user counts as in no group. If that is wrong, add the claim to the ID token or the userinfo of this client, or ask for its scope`;
    case "left_out":
      return `the provider left ${groups.claim} out because the user is in too many groups. Teams and role stay as they are; send only the groups that are assigned to this application`;
    case "listed": {
      const ignored =
        groups.ignored === 0 ? "" : `; ${groups.ignored} more entries are no names of groups and don't count`;
      const names =
        groups.groups.length === 0
          ? `${groups.claim} is empty`
          : `${groups.groups.length} in ${groups.claim}: ${list(groups.groups)}`;
      return `${names}${ignored}${provider.groups.length === 0 ? "; no group is mapped yet" : ""}`;
    }
  }
}

function describeApplied(applied: AppliedGroups, { groups }: ProvenIdentity): [string, string][] {
  if (groups.kind === "off" || groups.kind === "left_out") return [];
  const rows: [string, string][] = [
    ["Teams that the user would join", list(applied.joined) || "none"],
    ["Teams that the user would leave", list(applied.left) || "none"],
    ["Role", describeRole(applied)],
  ];
  if (applied.unmapped.length > 0)
    rows.push(["Groups that are not mapped", `${list(applied.unmapped)}: they change nothing`]);
  if (applied.unknownTeams.length > 0)
    rows.push([
      "Teams that don't exist",
      `${list(applied.unknownTeams)}: create them, or correct the mapping`,
    ]);
  if (applied.managedTeams.length > 0)
    rows.push([
      "Teams that SCIM manages",
      `${list(applied.managedTeams)}: groups of sign-ins don't change them`,
    ]);
  return rows;
}

function describeRole({ staysAdmin, role }: AppliedGroups): string {
  if (staysAdmin === "last_admin") return "stays admin, because there is no other admin in the workspace";
  if (staysAdmin === "break_glass_admin")
    return "stays admin, because the user is the break-glass admin of single sign-on only";
  return role === null ? "no group gives one" : `${role}, given by a group`;
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, maxShown).join(", ");
  return names.length > maxShown ? `${shown} and ${names.length - maxShown} more` : shown;
}

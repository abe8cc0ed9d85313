import type { AppliedGroups } from "../../../people/accounts/sso/apply-groups.ts";
import type { ProvenIdentity } from "../../../people/accounts/sso/single-sign-on.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import { type Html, html } from "../../../platform/html.ts";
import type { I18n, Localized } from "../../../platform/language/i18n.ts";

/** Entries of a list that are shown at most. */
const maxShown = 30;

/** What Parley reads in the claims, each with what follows from it. @param applied null: the sign-in would be refused. */
export function describeIdentity(
  i18n: I18n,
  identity: ProvenIdentity,
  provider: SignInProvider,
  applied: AppliedGroups | null,
): Html {
  const { subject, issuer } = identity;
  const rows: (readonly [string, string])[] = [
    [i18n.t("Account at the provider"), i18n.t("{subject} of {issuer}", { subject, issuer })],
    [i18n.t("Email"), describeEmail(i18n, identity, provider)],
    [i18n.t("Name"), identity.name ?? i18n.t("None is sent. A new account is named like its email.")],
    [i18n.t("Groups"), describeGroups(i18n, identity, provider)],
    ...(applied === null ? [] : describeApplied(i18n, applied, identity)),
    [
      i18n.t("Back-channel logout"),
      identity.sid === null
        ? i18n.t("The provider sends no sid: its logout ends all of the user's sessions that it began.")
        : i18n.t("The provider sends a sid: its logout ends the session that belongs to it."),
    ],
  ];
  return html`<h2>${i18n.t("What Parley reads")}</h2>
${rows.map(([name, text]) => html`<p class="small"><strong>${name}</strong>: ${text}</p>`)}`;
}

function describeEmail(
  i18n: I18n,
  { email, isEmailVerified }: ProvenIdentity,
  { trustEmail }: SignInProvider,
): string {
  if (email === null) return i18n.t("None is sent.");
  if (isEmailVerified === false) return i18n.t("{email}, which the provider says is not verified", { email });
  if (isEmailVerified === null)
    return i18n.t("{email}; the provider doesn't say whether it is verified, and Trust emails is off", {
      email,
    });
  return trustEmail
    ? i18n.t("{email}, verified or trusted by Trust emails", { email })
    : i18n.t("{email}, verified by the provider", { email });
}

function describeGroups(i18n: I18n, { groups }: ProvenIdentity, provider: SignInProvider): string {
  switch (groups.kind) {
    case "off":
      return i18n.t("They are not read, because the settings name no groups claim.");
    case "missing":
      return i18n.t(
        "The provider sends no {claim}, so the user counts as in no group. If that is wrong, add the claim to the ID token or the userinfo of this client, or ask for its scope.",
        { claim: groups.claim },
      );
    case "left_out":
      return i18n.t(
        "The provider left {claim} out because the user is in too many groups. Teams and role stay as they are. Send only the groups that are assigned to this application.",
        { claim: groups.claim },
      );
    case "listed":
      return describeListed(i18n, groups, provider.groups.length > 0);
  }
}

function describeListed(
  i18n: I18n,
  { claim, groups, ignored }: Extract<ProvenIdentity["groups"], { kind: "listed" }>,
  areMapped: boolean,
): string {
  const sentences = [
    groups.length === 0
      ? i18n.t("{claim} is empty.", { claim })
      : i18n.t("{count, plural, one {# group in {claim}: {names}.} other {# groups in {claim}: {names}.}}", {
          ...{ claim, count: groups.length, names: list(i18n, groups) },
        }),
  ];
  if (ignored > 0)
    sentences.push(
      i18n.t(
        "{count, plural, one {# more entry is no name of a group and doesn't count.} other {# more entries are no names of groups and don't count.}}",
        { count: ignored },
      ),
    );
  if (!areMapped) sentences.push(i18n.t("No group is mapped yet."));
  return sentences.join(" ");
}

function describeApplied(i18n: I18n, applied: AppliedGroups, { groups }: ProvenIdentity): [string, string][] {
  if (groups.kind === "off" || groups.kind === "left_out") return [];
  const { joined, left, unmapped, unknownTeams, managedTeams } = applied;
  const rows: [string, string][] = [
    [i18n.t("Teams that the user would join"), list(i18n, joined) || i18n.t("no teams")],
    [i18n.t("Teams that the user would leave"), list(i18n, left) || i18n.t("no teams")],
    [i18n.t("Role"), describeRole(i18n, applied)],
  ];
  if (unmapped.length > 0)
    rows.push([
      i18n.t("Groups that are not mapped"),
      i18n.t("{names}: they change nothing", { names: list(i18n, unmapped) }),
    ]);
  if (unknownTeams.length > 0)
    rows.push([
      i18n.t("Teams that don't exist"),
      i18n.t("{names}: create them, or correct the mapping", { names: list(i18n, unknownTeams) }),
    ]);
  if (managedTeams.length > 0)
    rows.push([
      i18n.t("Teams that SCIM manages"),
      i18n.t("{names}: groups of sign-ins don't change them", { names: list(i18n, managedTeams) }),
    ]);
  return rows;
}

const givenRoles: Readonly<Record<NonNullable<AppliedGroups["role"]>, Localized>> = {
  admin: (i18n) => i18n.t("Admin, given by a group"),
  member: (i18n) => i18n.t("Member, given by a group"),
  viewer: (i18n) => i18n.t("Viewer, given by a group"),
};

function describeRole(i18n: I18n, { staysAdmin, role }: AppliedGroups): string {
  if (staysAdmin === "last_admin")
    return i18n.t("The user stays an admin, because there is no other admin in the workspace.");
  if (staysAdmin === "break_glass_admin")
    return i18n.t("The user stays an admin, because they are the break-glass admin of single sign-on only.");
  return role === null ? i18n.t("No group gives one.") : givenRoles[role](i18n);
}

function list(i18n: I18n, names: readonly string[]): string {
  const shown = new Intl.ListFormat(i18n.language, { type: "unit" }).format(names.slice(0, maxShown));
  const count = names.length - maxShown;
  return count > 0
    ? i18n.t("{count, plural, one {{names} and # more} other {{names} and # more}}", { names: shown, count })
    : shown;
}

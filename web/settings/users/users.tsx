import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconUserPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import {
  changeRole,
  makeResetLink,
  managedUsersQuery,
  type OneTimeLink,
  type Role,
  reactivate,
  renewInvitation,
  resetSecondFactor,
  teamMembersQuery,
  type User,
  unbindSingleSignOn,
} from "../../api/settings/users.ts";
import { useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { SecretOnce } from "../../common/dialogs/secret-once.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { Confirm } from "../../common/forms/confirm.tsx";
import { Loaded, Row, Rows, SettingsPage, Tag } from "../parts.tsx";
import { Deactivate } from "./deactivate.tsx";
import { Invite } from "./invite.tsx";

const parent = getRouteApi("/signed-in");

/** A one-time link, with the title of its dialog. */
export interface ShownLink {
  readonly title: string;
  readonly link: OneTimeLink;
}

/** All current and former users of the workspace. */
export function UsersPage() {
  const { t } = useLingui();
  const people = useQuery(managedUsersQuery);
  const [opened, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<ShownLink | null>(null);
  return (
    <SettingsPage
      title={t`Users`}
      lead={t`All current and former members. Viewers are read-only. Admins manage users, tokens and apps.`}
      action={
        <Button leftSection={<IconUserPlus size={18} />} onClick={open}>
          {" "}
          <Trans>Invite user</Trans>{" "}
        </Button>
      }
    >
      <Loaded query={people}>
        {({ users }) => (
          <Rows label={t`Users`}>
            {users.map((user) => (
              <ParticipantRow key={user.id} user={user} showLink={setShown} />
            ))}
          </Rows>
        )}
      </Loaded>
      <Invite
        opened={opened}
        onClose={close}
        onInvited={(title, link) => {
          close();
          setShown({ title, link });
        }}
      />
      <FormDialog opened={shown !== null} onClose={() => setShown(null)} title={shown?.title} centered>
        {shown === null ? null : (
          <SecretOnce label={t`Link`} value={shown.link.url} onDone={() => setShown(null)}>
            <Text size="sm" c="dimmed">
              Works once, until {whenInLine(shown.link.expires_at)}.{" "}
              {shown.link.mailed
                ? t`It was also sent by email.`
                : t`Email isn't set up. Send them this link.`}
            </Text>
          </SecretOnce>
        )}
      </FormDialog>
    </SettingsPage>
  );
}

const roles: Readonly<Record<Role, string>> = { admin: "Admin", member: "Member", viewer: "Viewer" };
const otherRoles = ["admin", "member", "viewer"] as const;

function ParticipantRow({ user, showLink }: { user: User; showLink: (shown: ShownLink) => void }) {
  const { t } = useLingui();
  const { session } = parent.useRouteContext();
  const teams = useQuery(teamMembersQuery).data?.teams ?? [];
  const isMe = user.id === session.user.id;
  const names = teams.filter(({ id }) => user.team_ids.includes(id)).map(({ name }) => name);
  return (
    <Row
      title={user.name}
      badges={
        <>
          <Tag tone={user.role === "admin" ? "accent" : undefined}>{roles[user.role]}</Tag>
          {user.state === "active" ? null : (
            <Tag tone={user.state === "invited" ? "good" : "bad"}>
              {user.state === "invited" ? t`Invited` : t`Deactivated`}
            </Tag>
          )}
          {isMe ? (
            <Text span size="sm" c="dimmed">
              <Trans>you</Trans>
            </Text>
          ) : null}
        </>
      }
      facts={[
        user.email,
        names.length === 0 ? null : names.join(", "),
        signsIn(user),
        user.last_signed_in_datetime === null
          ? "never signed in"
          : t`last signed in ${whenInLine(user.last_signed_in_datetime)}`,
      ]}
      actions={<UserMenu user={user} isMe={isMe} showLink={showLink} />}
    />
  );
}

/** How a user can sign in. */
function signsIn({ has_password, has_second_factor, single_sign_on, state }: User): string | null {
  if (state !== "active") return null;
  const password = has_second_factor ? t`password with a code` : "password";
  if (has_password) return single_sign_on ? t`${password} and single sign-on` : password;
  return single_sign_on ? t`single sign-on` : t`not set up`;
}

function UserMenu(props: { user: User; isMe: boolean; showLink: (shown: ShownLink) => void }) {
  const { t } = useLingui();
  const { user, isMe, showLink } = props;
  const [asks, { open, close }] = useDisclosure();
  const [isUnlinking, unlinking] = useDisclosure();
  const [isResetting, resetting] = useDisclosure();
  const refresh = [managedUsersQuery.queryKey, ["directory"]];
  const setRole = useAction({
    run: (role: Role) => changeRole(user.id, role),
    done: ({ user, revoked_tokens, disabled_hooks }) =>
      `${user.name} is now ${roles[user.role].toLowerCase()}.${
        revoked_tokens > 0 ? t` Workspace tokens revoked: ${revoked_tokens}.` : ""
      }${disabled_hooks > 0 ? t` Webhooks disabled: ${disabled_hooks}.` : ""}`,
    refresh,
  });
  const link = useAction({
    run: () => (user.state === "invited" ? renewInvitation(user.id) : makeResetLink(user.id)),
    onDone: (link) =>
      showLink({
        title: user.state === "invited" ? t`Invitation for ${user.name}` : t`Password reset for ${user.name}`,
        link,
      }),
  });
  const reactivation = useAction({
    run: () => reactivate(user.id),
    done: t`${user.name} can sign in again.`,
    refresh,
  });
  if (isMe) return null;
  return (
    <>
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t`Actions for ${user.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {user.state === "deactivated" ? (
            <Menu.Item onClick={() => reactivation.mutate()}>
              <Trans>Reactivate</Trans>
            </Menu.Item>
          ) : (
            <>
              {otherRoles
                .filter((role) => role !== user.role)
                .map((role) => (
                  <Menu.Item key={role} onClick={() => setRole.mutate(role)}>
                    <Trans>Make {roles[role].toLowerCase()}</Trans>
                  </Menu.Item>
                ))}
              <Menu.Item onClick={() => link.mutate()}>
                {user.state === "invited" ? t`New invitation link` : t`Password reset link`}
              </Menu.Item>
              {user.single_sign_on ? (
                <Menu.Item onClick={unlinking.open}>
                  <Trans>Unlink single sign-on</Trans>
                </Menu.Item>
              ) : null}
              {user.has_second_factor ? (
                <Menu.Item onClick={resetting.open}>
                  <Trans>Reset two-factor authentication</Trans>
                </Menu.Item>
              ) : null}
              <Menu.Divider />
              <Menu.Item color="red" onClick={open}>
                <Trans>Deactivate</Trans>
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={isUnlinking}
        onClose={unlinking.close}
        title={t`Unlink single sign-on of ${user.name}?`}
        label={t`Unlink`}
        run={() => unbindSingleSignOn(user.id)}
        done={t`Single sign-on of ${user.name} unlinked.`}
        refresh={[["users"]]}
      >
        Removes the link to their account at the identity provider, for example after it was recreated there.
        The next sign-in links the account with their verified email.
        {user.has_password ? "" : t` Until then they can't sign in, because they have no password.`}
      </Confirm>
      <Confirm
        opened={isResetting}
        onClose={resetting.close}
        title={t`Reset two-factor authentication of ${user.name}?`}
        label={t`Reset`}
        run={() => resetSecondFactor(user.id)}
        done={t`${user.name} can sign in with their password alone.`}
        refresh={[["users"]]}
      >
        <Trans>
          For someone who has lost their phone and recovery codes: make sure that it is {user.name} who asks.
          It signs them out everywhere, and they receive an email about it.
        </Trans>
      </Confirm>
      <Deactivate user={user} opened={asks} onClose={close} />
    </>
  );
}

import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
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
  type RoleChange,
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
import { namesInLine } from "../../common/format/names.ts";
import { whenInLine } from "../../common/format/time.ts";
import { Confirm } from "../../common/forms/confirm.tsx";
import { Loaded, Row, Rows, SettingsPage, Tag } from "../parts.tsx";
import { Deactivate } from "./deactivate.tsx";
import { Invite } from "./invite.tsx";
import { roleNames } from "./role-names.ts";

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
          <Trans>Invite user</Trans>
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
          <SecretOnce
            label={t`Link`}
            value={shown.link.url}
            {...(shown.link.mailed
              ? { advice: t`It was sent by email. Copy the link only if you also want to send it yourself.` }
              : {})}
            onDone={() => setShown(null)}
          >
            <Text size="sm" c="dimmed">
              {aboutLink(shown.link)}
            </Text>
          </SecretOnce>
        )}
      </FormDialog>
    </SettingsPage>
  );
}

function aboutLink({ expires_at, mailed }: OneTimeLink): string {
  const time = whenInLine(expires_at);
  return mailed
    ? t`Works once, until ${time}. It is shown only now.`
    : t`Works once, until ${time}. Email isn't set up. Send them this link.`;
}

const otherRoles = ["admin", "member", "viewer"] as const;

/** Menu items that change the role. */
const makeRole: Readonly<Record<Role, MessageDescriptor>> = {
  admin: msg`Make admin`,
  member: msg`Make member`,
  viewer: msg`Make viewer`,
};

const nowRole: Readonly<Record<Role, (name: string) => string>> = {
  admin: (name) => t`${name} is now admin.`,
  member: (name) => t`${name} is now member.`,
  viewer: (name) => t`${name} is now viewer.`,
};

/** What changing a role did. */
function roleChanged({ user, revoked_tokens: tokens, disabled_hooks: hooks }: RoleChange): string {
  return [
    nowRole[user.role](user.name),
    tokens > 0 && t`Workspace tokens revoked: ${tokens}.`,
    hooks > 0 && t`Webhooks disabled: ${hooks}.`,
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}

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
          <Tag tone={user.role === "admin" ? "accent" : undefined}>{t(roleNames[user.role])}</Tag>
          {user.state === "active" ? null : (
            <Tag tone={user.state === "invited" ? "good" : "bad"}>
              {user.state === "invited" ? t`Invited` : t`Deactivated`}
            </Tag>
          )}
          {isMe ? (
            <Text span size="sm" c="dimmed">
              <Trans comment="Beside the name of the user who reads it">you</Trans>
            </Text>
          ) : null}
        </>
      }
      facts={[
        user.email,
        names.length === 0 ? null : namesInLine(names, names.length),
        signsIn(user),
        user.last_signed_in_datetime === null
          ? t`never signed in`
          : t`last signed in ${{ time: whenInLine(user.last_signed_in_datetime) }}`,
      ]}
      actions={<UserMenu user={user} isMe={isMe} showLink={showLink} />}
    />
  );
}

/** How a user can sign in. */
function signsIn({ has_password, has_second_factor, single_sign_on, state }: User): string | null {
  if (state !== "active") return null;
  if (!has_password) return single_sign_on ? t`single sign-on` : t`not set up`;
  if (has_second_factor)
    return single_sign_on ? t`password with a code and single sign-on` : t`password with a code`;
  return single_sign_on ? t`password and single sign-on` : t`password`;
}

function UserMenu(props: { user: User; isMe: boolean; showLink: (shown: ShownLink) => void }) {
  const { t } = useLingui();
  const { user, isMe, showLink } = props;
  const { name } = user;
  const [asks, { open, close }] = useDisclosure();
  const [isUnlinking, unlinking] = useDisclosure();
  const [isResetting, resetting] = useDisclosure();
  const refresh = [managedUsersQuery.queryKey, ["directory"]];
  const setRole = useAction({
    run: (role: Role) => changeRole(user.id, role),
    done: roleChanged,
    refresh,
  });
  const link = useAction({
    run: () => (user.state === "invited" ? renewInvitation(user.id) : makeResetLink(user.id)),
    onDone: (link) =>
      showLink({
        title: user.state === "invited" ? t`Invitation for ${name}` : t`Password reset for ${name}`,
        link,
      }),
  });
  const reactivation = useAction({
    run: () => reactivate(user.id),
    done: t`${name} can sign in again.`,
    refresh,
  });
  if (isMe) return null;
  return (
    <>
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t`Actions for ${name}`}>
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
                    {t(makeRole[role])}
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
              {user.can_reset_second_factor ? (
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
        title={t`Unlink single sign-on of ${name}?`}
        label={t`Unlink`}
        run={() => unbindSingleSignOn(user.id)}
        done={t`Single sign-on of ${name} unlinked.`}
        refresh={[["users"]]}
      >
        <Trans>
          Removes the link to their account at the identity provider, for example after it was recreated
          there. The next sign-in links the account with their verified email.
        </Trans>{" "}
        {user.has_password ? null : (
          <Trans>Until then they can't sign in, because they have no password.</Trans>
        )}
      </Confirm>
      <Confirm
        opened={isResetting}
        onClose={resetting.close}
        title={t`Reset two-factor authentication of ${name}?`}
        label={t`Reset`}
        run={() => resetSecondFactor(user.id)}
        done={t`${name} can sign in with their password alone.`}
        refresh={[["users"]]}
      >
        <Trans>
          For someone who has lost their phone and recovery codes: make sure that it is {name} who asks. It
          removes their passkeys too and signs them out everywhere, and they receive an email about it.
        </Trans>{" "}
        {user.single_sign_on && user.has_password ? (
          <Trans>
            Where the security rules require a second factor, single sign-on counts as one: it is unlinked
            too, with the teams and role that their groups there gave.
          </Trans>
        ) : null}
      </Confirm>
      <Deactivate user={user} opened={asks} onClose={close} />
    </>
  );
}

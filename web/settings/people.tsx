import { ActionIcon, Button, Menu, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconUserPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import {
  changeRole,
  deactivate,
  makeResetLink,
  type OneTimeLink,
  type Person,
  peopleQuery,
  type Role,
  reactivate,
  renewInvitation,
  teamMembersQuery,
  unbindSingleSignOn,
} from "../api/people.ts";
import { useAction } from "../common/actions.tsx";
import { Confirm } from "../common/confirm.tsx";
import { SecretOnce } from "../common/secret-once.tsx";
import { whenInLine } from "../common/time.ts";
import { Invite } from "./invite.tsx";
import { Loaded, Row, Rows, SettingsPage, Tag } from "./parts.tsx";

const parent = getRouteApi("/signed-in");

/** A link to be handed to somebody, and what it is for. */
export interface ShownLink {
  readonly title: string;
  readonly link: OneTimeLink;
}

/** Everybody who has or had an account in the workspace. */
export function PeoplePage() {
  const people = useQuery(peopleQuery);
  const [opened, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<ShownLink | null>(null);
  return (
    <SettingsPage
      title="People"
      lead="Everybody who has or had an account here. Viewers see and change nothing; admins also decide about people, tokens and apps."
      action={
        <Button leftSection={<IconUserPlus size={18} />} onClick={open}>
          Invite
        </Button>
      }
    >
      <Loaded query={people}>
        {({ users }) => (
          <Rows label="People">
            {users.map((person) => (
              <PersonRow key={person.id} person={person} showLink={setShown} />
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
      <Modal
        opened={shown !== null}
        onClose={() => setShown(null)}
        title={shown?.title}
        centered
        closeOnClickOutside={false}
      >
        {shown === null ? null : (
          <SecretOnce label="Link" value={shown.link.url} onDone={() => setShown(null)}>
            <Text size="sm" c="dimmed">
              It works once, until {whenInLine(shown.link.expires_at)}.{" "}
              {shown.link.mailed
                ? "It is on its way by mail as well."
                : "No mail is sent: hand it to them yourself."}
            </Text>
          </SecretOnce>
        )}
      </Modal>
    </SettingsPage>
  );
}

const roles: Readonly<Record<Role, string>> = { admin: "Admin", member: "Member", viewer: "Viewer" };
const otherRoles = ["admin", "member", "viewer"] as const;

function PersonRow({ person, showLink }: { person: Person; showLink: (shown: ShownLink) => void }) {
  const { session } = parent.useRouteContext();
  const teams = useQuery(teamMembersQuery).data?.teams ?? [];
  const isMe = person.id === session.user.id;
  const names = teams.filter(({ id }) => person.team_ids.includes(id)).map(({ name }) => name);
  return (
    <Row
      title={person.name}
      badges={
        <>
          <Tag tone={person.role === "admin" ? "accent" : undefined}>{roles[person.role]}</Tag>
          {person.state === "active" ? null : (
            <Tag tone={person.state === "invited" ? "good" : "bad"}>
              {person.state === "invited" ? "Invited" : "Deactivated"}
            </Tag>
          )}
          {isMe ? (
            <Text span size="sm" c="dimmed">
              you
            </Text>
          ) : null}
        </>
      }
      facts={[
        person.email,
        names.length === 0 ? null : names.join(", "),
        signsIn(person),
        person.last_signed_in_datetime === null
          ? "never signed in"
          : `last signed in ${whenInLine(person.last_signed_in_datetime)}`,
      ]}
      actions={<PersonMenu person={person} isMe={isMe} showLink={showLink} />}
    />
  );
}

/** By what somebody can sign in. */
function signsIn({ has_password, single_sign_on, state }: Person): string | null {
  if (state !== "active") return null;
  if (has_password) return single_sign_on ? "password and single sign-on" : "password";
  return single_sign_on ? "single sign-on" : "no way to sign in yet";
}

function PersonMenu(props: { person: Person; isMe: boolean; showLink: (shown: ShownLink) => void }) {
  const { person, isMe, showLink } = props;
  const [asks, { open, close }] = useDisclosure();
  const [unbinds, unbinding] = useDisclosure();
  const refresh = [peopleQuery.queryKey, ["directory"]];
  const setRole = useAction({
    run: (role: Role) => changeRole(person.id, role),
    done: ({ user, revoked_tokens }) =>
      `${user.name} is ${roles[user.role].toLowerCase()} now.${
        revoked_tokens > 0 ? ` ${revoked_tokens} workspace tokens they issued are revoked.` : ""
      }`,
    refresh,
  });
  const link = useAction({
    run: () => (person.state === "invited" ? renewInvitation(person.id) : makeResetLink(person.id)),
    onDone: (link) =>
      showLink({
        title:
          person.state === "invited" ? `Invitation of ${person.name}` : `A new password for ${person.name}`,
        link,
      }),
  });
  const letIn = useAction({
    run: () => reactivate(person.id),
    done: `${person.name} can sign in again.`,
    refresh,
  });
  if (isMe) return null;
  return (
    <>
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`What to do with ${person.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {person.state === "deactivated" ? (
            <Menu.Item onClick={() => letIn.mutate()}>Let in again</Menu.Item>
          ) : (
            <>
              {otherRoles
                .filter((role) => role !== person.role)
                .map((role) => (
                  <Menu.Item key={role} onClick={() => setRole.mutate(role)}>
                    Make {roles[role].toLowerCase()}
                  </Menu.Item>
                ))}
              <Menu.Item onClick={() => link.mutate()}>
                {person.state === "invited" ? "New invitation link" : "Link for a new password"}
              </Menu.Item>
              {person.single_sign_on ? (
                <Menu.Item onClick={unbinding.open}>Unbind single sign-on</Menu.Item>
              ) : null}
              <Menu.Divider />
              <Menu.Item color="red" onClick={open}>
                Deactivate
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={unbinds}
        onClose={unbinding.close}
        title={`Unbind single sign-on of ${person.name}?`}
        label="Unbind"
        run={() => unbindSingleSignOn(person.id)}
        done={`Single sign-on of ${person.name} is unbound.`}
        refresh={[["people"]]}
      >
        Which account they have at the provider is forgotten, such as after it was made anew there. The next
        time they sign in with it, the account with their verified email is bound.
        {person.has_password ? "" : " Until then they have no way in: they have no password."}
      </Confirm>
      <Confirm
        opened={asks}
        onClose={close}
        title={`Deactivate ${person.name}?`}
        label="Deactivate"
        run={() => deactivate(person.id)}
        done={`${person.name} has no access any more.`}
        refresh={[["people"], ["directory"]]}
      >
        <Stack gap="xs">
          <span>
            Their sessions, tokens and apps end at once, also the workspace tokens they issued, and their
            hooks fall silent. Recordings stay.
          </span>
          <span>You can let them in again; what has ended stays ended.</span>
        </Stack>
      </Confirm>
    </>
  );
}

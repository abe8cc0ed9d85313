import { Button, Group, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { changePassword, endSession, endSessions, rename, sessionsQuery } from "../api/account.ts";
import { sessionQuery } from "../api/session.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";
import { ConfirmButton } from "../common/confirm.tsx";
import { whenInLine } from "../common/time.ts";
import { browserName } from "./browser-name.ts";
import { ColoursForm } from "./colours.tsx";
import { Loaded, Panel, Row, Rows, Section, SettingsPage, Tag } from "./parts.tsx";
import { SingleSignOn } from "./single-sign-on.tsx";

const parent = getRouteApi("/signed-in");

const roles = { admin: "Admin", member: "Member", viewer: "Viewer" } as const;

/** Who one is, the password, and where one is signed in. */
export function ProfilePage() {
  const { session: atStart } = parent.useRouteContext();
  const session = useQuery(sessionQuery).data ?? atStart;
  return (
    <SettingsPage title="Profile" lead={`Your account in ${session.workspace.name}.`}>
      <Section title="About you">
        <NameForm name={session.user.name} email={session.user.email} role={roles[session.user.role]} />
      </Section>
      {session.has_password ? (
        <Section title="Password" lead="Changing it signs you out everywhere else.">
          <PasswordForm />
        </Section>
      ) : null}
      <Section title="Colours" lead="In this browser.">
        <ColoursForm />
      </Section>
      <SingleSignOn session={session} />
      <Sessions />
    </SettingsPage>
  );
}

function NameForm(props: { name: string; email: string; role: string }) {
  const [name, setName] = useState(props.name);
  const save = useAction({
    run: () => rename(name),
    done: "Your name is saved.",
    refresh: [sessionQuery.queryKey, ["directory"]],
    showsError: true,
  });
  return (
    <Panel>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm" maw={420}>
          <TextInput
            label="Name"
            autoComplete="name"
            required
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fieldErrors(save.error).name}
          />
          <TextInput
            label="Email"
            value={props.email}
            readOnly
            description="It is who you are here, and can't be changed."
          />
          <TextInput label="Role" value={props.role} readOnly description="Admins decide about roles." />
          <FormError error={save.error} fields={["name"]} />
          <Group>
            <Button type="submit" loading={save.isPending} disabled={name.trim() === props.name}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const save = useAction({
    run: () => changePassword({ current_password: current, new_password: next }),
    done: "Your password is changed. Everywhere else you are signed out.",
    refresh: [sessionsQuery.queryKey],
    showsError: true,
    onDone: () => {
      setCurrent("");
      setNext("");
    },
  });
  const faults = fieldErrors(save.error);
  return (
    <Panel>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack gap="sm" maw={420}>
          <PasswordInput
            label="Present password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={faults.current_password}
          />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            required
            value={next}
            onChange={(event) => setNext(event.currentTarget.value)}
            error={faults.new_password}
          />
          <FormError error={save.error} fields={["current_password", "new_password"]} />
          <Group>
            <Button type="submit" loading={save.isPending} disabled={current === "" || next === ""}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

const methods = {
  password: "with a password",
  single_sign_on: "by single sign-on",
  link: "by a link",
} as const;

function Sessions() {
  const sessions = useQuery(sessionsQuery);
  const end = useAction({
    run: endSession,
    done: "Signed out there.",
    refresh: [sessionsQuery.queryKey],
  });
  return (
    <Section
      title="Where you are signed in"
      action={
        <ConfirmButton
          text="Sign out everywhere"
          button={{ variant: "light", size: "sm" }}
          title="Sign out everywhere?"
          label="Sign out"
          run={endSessions}
          done="Signed out everywhere."
          onDone={() => window.location.assign("/sign-in")}
        >
          You are signed out in every browser, also in this one. Access tokens stay good.
        </ConfirmButton>
      }
    >
      <Loaded query={sessions}>
        {({ sessions }) => (
          <Rows label="Sessions">
            {sessions.map((session) => (
              <Row
                key={session.id}
                title={browserName(session.user_agent)}
                badges={session.current ? <Tag tone="accent">This browser</Tag> : null}
                facts={[
                  session.ip,
                  `signed in ${methods[session.method]}, ${whenInLine(session.created_datetime)}`,
                  `last used ${whenInLine(session.last_used_datetime)}`,
                ]}
                actions={
                  session.current ? undefined : (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      color="red"
                      loading={end.isPending && end.variables === session.id}
                      onClick={() => end.mutate(session.id)}
                    >
                      Sign out
                    </Button>
                  )
                }
              />
            ))}
          </Rows>
        )}
      </Loaded>
    </Section>
  );
}

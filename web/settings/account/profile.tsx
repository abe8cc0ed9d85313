import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Session, sessionQuery } from "../../api/session.ts";
import {
  changePassword,
  endSession,
  endSessions,
  type PasswordChanged,
  rename,
  sessionsQuery,
} from "../../api/settings/account.ts";
import { useAction } from "../../common/actions.tsx";
import { ownerOf, removeAllDrafts } from "../../common/drafts/store.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, Panel, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { roleNames } from "../users/role-names.ts";
import { AppearanceForm } from "./appearance.tsx";
import { browserName } from "./browser-name.ts";
import { LanguageSection } from "./language.tsx";
import { Passkeys } from "./passkeys.tsx";
import { SingleSignOn } from "./single-sign-on.tsx";
import { TimeZoneSection } from "./time-zone.tsx";
import { TwoFactor } from "./two-factor.tsx";

const parent = getRouteApi("/signed-in");

/** The user's name, password, appearance and sessions. */
export function ProfilePage() {
  const { t } = useLingui();
  const { session: atStart } = parent.useRouteContext();
  const session = useQuery(sessionQuery).data ?? atStart;
  const { name, email, role } = session.user;
  const workspace = session.workspace.name;
  return (
    <SettingsPage title={t`Profile`} lead={t`Your account in ${workspace}.`}>
      <Section title={t`Account`}>
        <NameForm name={name} email={email} role={t(roleNames[role])} />
      </Section>
      {session.has_password ? (
        <Section
          title={t`Password`}
          lead={t`If someone else may know it, sign out everywhere else and revoke your tokens.`}
        >
          <PasswordForm />
        </Section>
      ) : null}
      <Passkeys />
      {session.has_password ? <TwoFactor session={session} /> : null}
      <LanguageSection session={session} />
      <TimeZoneSection session={session} />
      <Section title={t`Appearance`} lead={t`In this browser.`}>
        <AppearanceForm />
      </Section>
      <SingleSignOn />
      <Sessions session={session} />
    </SettingsPage>
  );
}

function NameForm(props: { name: string; email: string; role: string }) {
  const { t } = useLingui();
  const draft = useDraft("profile-name", props.name);
  const name = draft.value;
  const save = useForm({
    run: () => rename(name),
    done: t`Name saved.`,
    refresh: [sessionQuery.queryKey, ["directory"]],
    draft,
  });
  return (
    <Panel>
      <Form form={save} label={t`Save`} isDisabled={name.trim() === props.name} maxWidth={420}>
        <TextInput
          label={t`Name`}
          autoComplete="name"
          required
          value={name}
          onChange={(event) => draft.set(event.currentTarget.value)}
          error={save.errorOf("name")}
        />
        <TextInput
          label={t`Email`}
          value={props.email}
          readOnly
          description={t`Your email can't be changed.`}
        />
        <TextInput
          label={t`Role`}
          value={props.role}
          readOnly
          description={t`Only admins can change roles.`}
        />
      </Form>
    </Panel>
  );
}

function PasswordForm() {
  const { t } = useLingui();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [endsSessions, setEndsSessions] = useState(true);
  const [endsTokens, setEndsTokens] = useState(false);
  const save = useForm({
    run: () =>
      changePassword({
        current_password: current,
        new_password: next,
        end_sessions: endsSessions,
        end_tokens: endsTokens,
      }),
    done: changed,
    refresh: [sessionsQuery.queryKey, ["tokens"], ["grants"], ["hooks"]],
    onDone: () => {
      setCurrent("");
      setNext("");
    },
  });
  return (
    <Panel>
      <Form form={save} label={t`Change password`} isDisabled={current === "" || next === ""} maxWidth={420}>
        <PasswordInput
          visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
          label={t`Current password`}
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          error={save.errorOf("current_password")}
        />
        <PasswordInput
          visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
          label={t`New password`}
          autoComplete="new-password"
          required
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          error={save.errorOf("new_password")}
        />
        <Checkbox
          label={t`Sign out everywhere else`}
          checked={endsSessions}
          onChange={(event) => setEndsSessions(event.currentTarget.checked)}
        />
        <Checkbox
          label={t`Revoke my access tokens and the access of my apps`}
          description={t`Also workspace tokens you issued. Webhooks created with them are disabled.`}
          checked={endsTokens}
          onChange={(event) => setEndsTokens(event.currentTarget.checked)}
        />
      </Form>
    </Panel>
  );
}

/** What changing the password did. */
function changed({ ended_sessions: ended, revoked_tokens: revoked }: PasswordChanged): string {
  if (ended > 0)
    return revoked > 0
      ? t`Password changed. You are signed out everywhere else. Tokens revoked: ${revoked}.`
      : t`Password changed. You are signed out everywhere else.`;
  return revoked > 0 ? t`Password changed. Tokens revoked: ${revoked}.` : t`Password changed.`;
}

/** How and when a session was signed in. */
const signedIn = {
  password: (time: string) => t`signed in with a password, ${time}`,
  single_sign_on: (time: string) => t`signed in with single sign-on, ${time}`,
  link: (time: string) => t`signed in with a link, ${time}`,
  passkey: (time: string) => t`signed in with a passkey, ${time}`,
} as const;

/** The same, with a second factor. */
const signedInWithCode = {
  password: (time: string) => t`signed in with a password and a code, ${time}`,
  single_sign_on: (time: string) => t`signed in with single sign-on and a code, ${time}`,
  link: (time: string) => t`signed in with a link and a code, ${time}`,
  passkey: (time: string) => t`signed in with a passkey and a code, ${time}`,
} as const;

function Sessions({ session }: { session: Session }) {
  const { t } = useLingui();
  const sessions = useQuery(sessionsQuery);
  const end = useAction({
    run: endSession,
    done: t`Session ended.`,
    refresh: [sessionsQuery.queryKey],
  });
  return (
    <Section
      title={t`Active sessions`}
      action={
        <ConfirmButton
          text={t`Sign out everywhere`}
          button={{ variant: "light", size: "sm" }}
          title={t`Sign out everywhere?`}
          label={t`Sign out`}
          run={endSessions}
          done={t`Signed out everywhere.`}
          onDone={() => {
            removeAllDrafts(ownerOf(session));
            window.location.assign("/sign-in");
          }}
        >
          <Trans>
            Ends your sessions in all browsers, including this one. Access tokens aren't affected.
          </Trans>
        </ConfirmButton>
      }
    >
      <Loaded query={sessions}>
        {({ sessions }) => (
          <Rows label={t`Sessions`}>
            {sessions.map((session) => (
              <Row
                key={session.id}
                title={browserName(session.user_agent)}
                badges={
                  session.current ? (
                    <Tag tone="accent">
                      <Trans>This browser</Trans>
                    </Tag>
                  ) : null
                }
                facts={[
                  session.ip,
                  (session.second_factor === null ? signedIn : signedInWithCode)[session.method](
                    whenInLine(session.created_datetime),
                  ),
                  t`last used ${{ time: whenInLine(session.last_used_datetime) }}`,
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
                      <Trans>Sign out</Trans>
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

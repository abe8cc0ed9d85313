import type { MessageDescriptor } from "@lingui/core";
import { msg, plural } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Checkbox, NumberInput, Select, Stack, TagsInput, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sessionQuery } from "../../api/session.ts";
import {
  previewSecurity,
  type Rules,
  type SecurityPreview,
  securityQuery,
  updateSecurity,
  type WorkspaceSecurity,
} from "../../api/settings/security.ts";
import { managedUsersQuery } from "../../api/settings/users.ts";
import { fieldErrors, useAction } from "../../common/actions.tsx";
import { namesInSentence } from "../../common/format/names.ts";
import { unitAfter } from "../../common/format/numbers.ts";
import { whenInLine } from "../../common/format/time.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, Panel, Row, Rows, Section, SettingsPage } from "../parts.tsx";

/** Security rules of the workspace, with a preview of who would be locked out. */
export function SecurityPage() {
  const { t } = useLingui();
  const security = useQuery(securityQuery);
  return (
    <SettingsPage
      title={t`Security`}
      lead={t`Rules for sign-ins, sessions and tokens of this workspace. They apply to everyone's next request.`}
    >
      <Loaded query={security}>{(security) => <RulesForm security={security} />}</Loaded>
    </SettingsPage>
  );
}

/** An optional whole number. */
interface LimitProps {
  readonly label: string;
  readonly description: string;
  readonly unit: "day" | "hour" | "minute";
  readonly min: number;
  readonly max: number;
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly error: string | undefined;
}

function Limit({ value, onChange, unit, ...field }: LimitProps) {
  const { t } = useLingui();
  return (
    <NumberInput
      {...field}
      suffix={unitAfter(value ?? 0, unit)}
      placeholder={t`No limit`}
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="blur"
      value={value ?? ""}
      onChange={(next) => onChange(typeof next === "number" ? next : null)}
    />
  );
}

function RulesForm({ security }: { security: WorkspaceSecurity }) {
  const { t } = useLingui();
  const [change, setChange] = useState<Partial<Rules>>({});
  const rules = { ...security, ...change };
  const set = (next: Partial<Rules>) => {
    setChange({ ...change, ...next });
    preview.reset();
  };
  const save = useForm({
    run: () => updateSecurity(change),
    done: t`Security rules saved.`,
    refresh: [securityQuery.queryKey, sessionQuery.queryKey],
    onDone: () => setChange({}),
  });
  const preview = useAction({ run: () => previewSecurity(change), showsError: true });
  const isChanged = Object.keys(change).length > 0;
  const error = save.error ?? preview.error;
  const errors = fieldErrors(error);
  return (
    <Form
      form={{ ...save, error, shown: new Set(Object.keys(errors)) }}
      label={t`Save rules`}
      isDisabled={!isChanged}
      maxWidth={640}
      buttons={
        <Button
          variant="default"
          disabled={!isChanged}
          loading={preview.isPending}
          onClick={() => preview.mutate()}
        >
          <Trans>Preview</Trans>
        </Button>
      }
    >
      <Stack gap="lg">
        <Section title={t`Second factor`} lead={t`A code beside the password, or a passkey.`}>
          <Panel>
            <Stack gap="sm">
              <Select
                label={t`Required of`}
                description={t`Users who sign in by single sign-on don't need one here: the provider decides.`}
                allowDeselect={false}
                data={[
                  { value: "nobody", label: t`Nobody` },
                  { value: "admins", label: t`Admins` },
                  { value: "all", label: t`Everyone` },
                ]}
                value={rules.second_factor}
                onChange={(value) => set({ second_factor: value as Rules["second_factor"] })}
              />
              {rules.second_factor === "nobody" ? null : (
                <NumberInput
                  label={t`Grace period`}
                  description={t`Until then users see a notice. After it they can only set it up or sign out, and their tokens are refused.`}
                  suffix={unitAfter(rules.grace_days, "day")}
                  min={0}
                  max={90}
                  allowDecimal={false}
                  clampBehavior="blur"
                  value={rules.grace_days}
                  onChange={(value) => typeof value === "number" && set({ grace_days: value })}
                  error={errors.grace_days}
                />
              )}
            </Stack>
          </Panel>
        </Section>
        <Section title={t`Sessions and tokens`} lead={t`Also for those that exist.`}>
          <Panel>
            <Stack gap="sm">
              <Limit
                label={t`Longest session`}
                description={t`After that, users sign in again. Without a limit: 90 days.`}
                unit="hour"
                min={1}
                max={2160}
                value={rules.session_max_hours}
                onChange={(value) => set({ session_max_hours: value })}
                error={errors.session_max_hours}
              />
              <Limit
                label={t`Longest idle time`}
                description={t`How long a session may be unused. Without a limit: 14 days.`}
                unit="minute"
                min={5}
                max={20_160}
                value={rules.session_idle_minutes}
                onChange={(value) => set({ session_idle_minutes: value })}
                error={errors.session_idle_minutes}
              />
              <Limit
                label={t`Longest life of tokens`}
                description={t`For access tokens, and for apps since they were authorized.`}
                unit="day"
                min={1}
                max={3650}
                value={rules.token_max_days}
                onChange={(value) => set({ token_max_days: value })}
                error={errors.token_max_days}
              />
            </Stack>
          </Panel>
        </Section>
        <Section
          title={t`Single sign-on`}
          lead={
            security.single_sign_on_available
              ? t`Passwords, passkeys and emailed links are refused, and so are earlier tokens and apps.`
              : t`This server isn't set up for single sign-on.`
          }
        >
          <Panel>
            <Stack gap="sm">
              <Checkbox
                label={t`Users sign in by single sign-on only`}
                disabled={!security.single_sign_on_available && !rules.single_sign_on_only}
                checked={rules.single_sign_on_only}
                onChange={(event) => set({ single_sign_on_only: event.currentTarget.checked })}
              />
              {rules.single_sign_on_only ? (
                <BreakGlass
                  value={rules.break_glass_user_id}
                  onChange={(value) => set({ break_glass_user_id: value })}
                  error={errors.break_glass_user_id}
                />
              ) : null}
            </Stack>
          </Panel>
        </Section>
        <Section
          title={t`Allowed IP addresses`}
          lead={t`From where the app, the API and recordings can be used. Public links aren't restricted.`}
        >
          <Panel>
            <TagsInput
              label={t`Addresses and ranges`}
              description={t`Such as 192.0.2.0/24 or 2001:db8::/32. Yours is ${{ ip: security.your_ip }}.`}
              placeholder={rules.allowed_addresses.length === 0 ? t`Everywhere` : ""}
              splitChars={[",", " ", ";"]}
              acceptValueOnBlur
              value={rules.allowed_addresses}
              onChange={(value) => set({ allowed_addresses: value })}
              error={errors.allowed_addresses}
            />
          </Panel>
        </Section>
        {preview.data === undefined ? null : <Preview preview={preview.data} />}
      </Stack>
    </Form>
  );
}

interface BreakGlassProps {
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly error: string | undefined;
}

function BreakGlass(props: BreakGlassProps) {
  const { t } = useLingui();
  const users = useQuery(managedUsersQuery);
  const admins = (users.data?.users ?? []).filter(
    ({ role, state }) => role === "admin" && state === "active",
  );
  return (
    <Select
      label={t`Break-glass admin`}
      description={t`Can still sign in with a password and a code when the provider can't be reached. Needs two-factor authentication.`}
      required
      searchable
      data={admins.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
      {...props}
    />
  );
}

const reasons: Readonly<Record<SecurityPreview["users"][number]["reasons"][number], MessageDescriptor>> = {
  address: msg`outside the allowed addresses`,
  session_age: msg`session too old`,
  session_idle: msg`session unused for too long`,
  token_age: msg`token too old`,
  single_sign_on: msg`not by single sign-on`,
  second_factor: msg`no second factor`,
};

function Preview({ preview }: { preview: SecurityPreview }) {
  const { t } = useLingui();
  const { users, user_count, session_count, token_count, unknown_address_count, scim_tokens } = preview;
  return (
    <Section title={t`Preview`} lead={t`By the sessions and tokens that are active now.`}>
      <Stack gap="sm">
        {preview.refuses_you === null ? null : (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t`You can't save these rules`}>
            {preview.refuses_you}
          </Alert>
        )}
        {user_count === 0 && scim_tokens.length > 0 ? null : user_count === 0 ? (
          <Alert icon={<IconCheck aria-hidden />} title={t`Nobody is affected`}>
            <Trans>All sessions and tokens stay.</Trans>
          </Alert>
        ) : (
          <Text size="sm" role="status">
            <Plural value={user_count} one="# user is affected." other="# users are affected." />{" "}
            <Plural
              value={session_count}
              one="# session would be refused at once."
              other="# sessions would be refused at once."
            />{" "}
            <Plural
              value={token_count}
              one="# token would be refused at once."
              other="# tokens would be refused at once."
            />
          </Text>
        )}
        {unknown_address_count === 0 ? null : (
          <Text size="sm" c="dimmed">
            <Plural
              value={unknown_address_count}
              one="# token was not used lately: it isn't known from where."
              other="# tokens were not used lately: it isn't known from where."
            />
          </Text>
        )}
        {users.length === 0 ? null : (
          <Rows label={t`Affected users`}>
            {users.map((user) => (
              <Row
                key={user.id}
                title={user.name}
                facts={[
                  user.email,
                  ...user.reasons.map((reason) => t(reasons[reason])),
                  user.sessions > 0 && plural(user.sessions, { one: "# session", other: "# sessions" }),
                  user.tokens > 0 && plural(user.tokens, { one: "# token", other: "# tokens" }),
                  user.addresses.length > 0 && t`from ${{ addresses: namesInSentence(user.addresses) }}`,
                  user.second_factor_due !== null &&
                    t`to set up by ${{ time: whenInLine(user.second_factor_due) }}`,
                ]}
              />
            ))}
          </Rows>
        )}
        {scim_tokens.length === 0 ? null : (
          <>
            <Text size="sm">
              <Trans>
                Identity providers whose changes would be refused, unless their IP addresses are added:
              </Trans>
            </Text>
            <Rows label={t`SCIM tokens`}>
              {scim_tokens.map(({ id, name, address }) => (
                <Row
                  key={id}
                  title={name}
                  facts={[address === null ? t`not used lately` : t`from ${{ addresses: address }}`]}
                />
              ))}
            </Rows>
          </>
        )}
        {user_count > users.length ? (
          <Text size="sm" c="dimmed">
            <Plural value={user_count - users.length} one="And # more." other="And # more." />
          </Text>
        ) : null}
      </Stack>
    </Section>
  );
}

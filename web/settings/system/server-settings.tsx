import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, NativeSelect, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { type SettingsTest, testsOfSections } from "../../../contract/settings-tests.ts";
import { ApiError } from "../../api/client/api-error.ts";
import {
  type SettingEdits,
  type SystemSetting,
  saveSettings,
  settingChangesQuery,
  settingsQuery,
  testSettings,
  undoSettingChange,
} from "../../api/settings/system-settings.ts";
import { ServerText, Words } from "../../causes/server-text.tsx";
import { errorText, useAction } from "../../common/actions.tsx";
import { namesInSentence } from "../../common/format/names.ts";
import { number } from "../../common/format/numbers.ts";
import { whenInLine } from "../../common/format/time.ts";
import { Loaded, NoneYet, Row, Rows, Section, SettingsPage } from "../parts.tsx";
import { sectionTitle, settingHelp, settingLabel, withLabels } from "./setting-texts.ts";
import { SignInProviders } from "./sign-in-providers.tsx";

/** Sections that only the environment sets. */
const fixedSections: ReadonlySet<string> = new Set(["Server", "Database and files"]);

const testLabels: Readonly<Record<SettingsTest, MessageDescriptor>> = {
  mail: msg`Send test email`,
  speech: msg`Test speech model`,
  language_model: msg`Test language model`,
  sign_in: msg`Test provider`,
  backups: msg`Test destination`,
  proxy: msg`Test proxy`,
};

const leads: Readonly<Record<string, MessageDescriptor>> = {
  Mail: msg`For invitations, password resets and notifications.`,
  Speech: msg`What turns recordings into transcripts.`,
  "Language model": msg`For summaries, chapters, action items and questions about meetings.`,
  "Sign-in": msg`Single sign-on and apps that register themselves.`,
  Backups: msg`Of the database, all files and the secret, every night.`,
  Advanced: msg`Most installations never change these.`,
};

/** The settings of the installation, for admins of the operator's workspace. */
export function ServerSettingsPage() {
  const { t } = useLingui();
  const settings = useQuery(settingsQuery);
  return (
    <SettingsPage
      title={t`Server settings`}
      lead={t`For this whole installation. A change takes effect within two seconds, without a restart.`}
    >
      <Loaded query={settings}>
        {({ settings: all }) => (
          <>
            {sectionsOf(all)
              .filter(([section]) => !fixedSections.has(section))
              .map(([section, fields]) =>
                section === "Sign-in" ? (
                  <SignInSection key={section} fields={fields} />
                ) : (
                  <SettingsSection
                    key={section}
                    section={section}
                    fields={fields}
                    test={testsOfSections[section]}
                  />
                ),
              )}
            <Changes />
            <Fixed settings={all.filter(({ section }) => fixedSections.has(section))} />
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

function sectionsOf(settings: readonly SystemSetting[]): [string, SystemSetting[]][] {
  const sections = new Map<string, SystemSetting[]>();
  for (const setting of settings)
    sections.set(setting.section, [...(sections.get(setting.section) ?? []), setting]);
  return [...sections];
}

/** What is wrong with each setting, by its name. */
function errorsOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.violations.map(({ pointer, detail }) => [
      pointer.replace("/settings/", ""),
      withLabels(detail.charAt(0).toUpperCase() + detail.slice(1)),
    ]),
  );
}

/** Single sign-on as a list of providers. Its settings are fields only where the list can't be changed here. */
function SignInSection({ fields }: { fields: readonly SystemSetting[] }) {
  const list = fields.find(({ name }) => name === "PARLEY_OIDC_PROVIDERS");
  const isLocked = list?.source === "environment" || list?.source === "file";
  return (
    <SettingsSection
      section="Sign-in"
      fields={fields.filter(
        (field) => field !== list && (isLocked || !field.name.startsWith("PARLEY_OIDC_")),
      )}
      test={isLocked ? "sign_in" : undefined}
    >
      <SignInProviders list={list} />
    </SettingsSection>
  );
}

function SettingsSection(props: {
  section: string;
  fields: readonly SystemSetting[];
  test: SettingsTest | undefined;
  /** Above the fields. */
  children?: ReactNode;
}) {
  const { t } = useLingui();
  const { section, fields, test } = props;
  const [edits, setEdits] = useState<SettingEdits>({});
  const save = useAction({
    run: () => saveSettings(edits),
    done: t`Settings saved`,
    refresh: [settingsQuery.queryKey, settingChangesQuery.queryKey, ["system", "state"]],
    onDone: () => setEdits({}),
    showsError: true,
  });
  const tried = useAction({
    run: (name: SettingsTest) => testSettings(name, edits),
    showsError: true,
  });
  const error = save.error ?? tried.error;
  const errors = errorsOf(error);
  const isChanged = Object.keys(edits).length > 0;
  const isShown = Object.keys(errors).length > 0 && fields.some(({ name }) => errors[name] !== undefined);
  const edit = (name: string, value: string | null | undefined) => {
    save.reset();
    tried.reset();
    const { [name]: _former, ...others } = edits;
    setEdits(value === undefined ? others : { ...others, [name]: value });
  };
  const title = sectionTitle(section);
  const id = section.toLowerCase().replaceAll(" ", "-");
  // The browser went to the URL's section before the sections were there.
  const showIfNamed = useCallback(
    (form: HTMLFormElement | null) => {
      if (location.hash === `#${id}`) form?.closest("section")?.scrollIntoView();
    },
    [id],
  );
  return (
    <Section title={title} lead={leads[section] === undefined ? undefined : t(leads[section])}>
      {props.children}
      <form
        ref={showIfNamed}
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault();
          tried.reset();
          save.mutate();
        }}
      >
        <Stack gap="md" maw={560}>
          {fields.map((setting) => (
            <Field
              key={setting.name}
              setting={setting}
              edited={edits[setting.name]}
              error={errors[setting.name]}
              onEdit={(value) => edit(setting.name, value)}
            />
          ))}
          {error !== null && !isShown && (
            <Alert color="red" role="alert">
              {errorText(error)}
            </Alert>
          )}
          {tried.data !== undefined && (
            <Alert color={tried.data.passed ? "green" : "red"} role="status" title={testTitle(tried.data)}>
              <ServerText text={tried.data.message} shown={withLabels} />
            </Alert>
          )}
          <Group>
            <Button type="submit" disabled={!isChanged} loading={save.isPending}>
              <Trans>Save changes</Trans>
            </Button>
            {test !== undefined && (
              <Button variant="default" loading={tried.isPending} onClick={() => tried.mutate(test)}>
                {t(testLabels[test])}
              </Button>
            )}
            {isChanged && (
              <Button
                variant="subtle"
                onClick={() => {
                  setEdits({});
                  save.reset();
                  tried.reset();
                }}
              >
                <Trans>Discard changes</Trans>
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

/** The result of a test, and how long it took. */
function testTitle({ passed, took_ms }: { passed: boolean; took_ms: number }): string {
  const seconds = number(Math.round(took_ms / 100) / 10);
  return passed ? t`It works (${seconds} s)` : t`It doesn't work yet (${seconds} s)`;
}

/** What a setting does; in the server's English for one that this version of the app doesn't know. */
function Help({ setting: { name, help } }: { setting: SystemSetting }) {
  const text = settingHelp(name);
  return text === null ? <ServerText text={help} /> : <Words text={text} />;
}

/** What set a setting, or which admin changed it when. */
function originOf({ name, source, changed_datetime, changed_by: admin }: SystemSetting): string | null {
  if (source === "environment") return t`Set by ${name}`;
  if (source === "file") return t`Set by the file of settings`;
  if (changed_datetime === null) return null;
  const time = whenInLine(changed_datetime);
  return admin === null ? t`Changed ${time}` : t`Changed ${time} by ${admin}`;
}

function Field(props: {
  setting: SystemSetting;
  edited: string | null | undefined;
  error: string | undefined;
  onEdit: (value: string | null | undefined) => void;
}) {
  const { t } = useLingui();
  const { setting, edited, error, onEdit } = props;
  const { name, source, value, type, is_secret, is_set } = setting;
  const isLocked = source === "environment" || source === "file";
  const label = settingLabel(name);
  const defaultValue = setting.default;
  const common = {
    label,
    description: (
      <>
        <Help setting={setting} /> {originOf(setting)}
      </>
    ),
    error,
    disabled: isLocked,
    inputWrapperOrder: ["label", "description", "input", "error"] as (
      | "label"
      | "description"
      | "input"
      | "error"
    )[],
  };
  const change = (text: string) => {
    if (text === (is_secret ? "" : source === "app" ? (value ?? "") : "")) onEdit(undefined);
    else onEdit(text === "" ? null : text);
  };
  const shown = edited === undefined ? (source === "default" ? "" : (value ?? "")) : (edited ?? "");
  if (is_secret)
    return (
      <Stack gap={4}>
        <PasswordInput
          visibilityToggleButtonProps={{ "aria-label": t`Show secret` }}
          {...common}
          autoComplete="off"
          value={edited ?? ""}
          placeholder={edited === null ? t`Will be removed` : is_set ? t`Set; leave empty to keep it` : ""}
          onChange={(event) => change(event.currentTarget.value)}
        />
        {source === "app" && edited !== null && (
          <Button variant="subtle" size="compact-xs" w="fit-content" onClick={() => onEdit(null)}>
            <Trans>Remove {label}</Trans>
          </Button>
        )}
      </Stack>
    );
  if (type.includes(" | "))
    return (
      <NativeSelect
        {...common}
        value={shown}
        data={[
          { value: "", label: defaultValue === null ? t`Default` : t`Default (${defaultValue})` },
          ...type.split(" | "),
        ]}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...common}
      value={shown}
      placeholder={defaultValue ?? ""}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** How many changes are listed. */
const shownChanges = 10;

function Changes() {
  const { t } = useLingui();
  const changes = useQuery(settingChangesQuery);
  const undo = useAction({
    run: (id: string) => undoSettingChange(id),
    done: t`Change undone`,
    refresh: [settingsQuery.queryKey, settingChangesQuery.queryKey, ["system", "state"]],
  });
  return (
    <Section title={t`Latest changes`} lead={t`The audit log has all of them.`}>
      <Loaded query={changes}>
        {({ changes: all }) =>
          all.length === 0 ? (
            <NoneYet>
              <Trans>No changes yet.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Latest changes`}>
              {all.slice(0, shownChanges).map((one) => (
                <Row
                  key={one.id}
                  title={namesInSentence(one.names.map(settingLabel))}
                  facts={[one.changed_by ?? t`Command line`, whenInLine(one.changed_datetime)]}
                  actions={
                    one.can_undo ? (
                      <Button
                        variant="default"
                        size="xs"
                        loading={undo.isPending && undo.variables === one.id}
                        onClick={() => undo.mutate(one.id)}
                      >
                        <Trans>Undo</Trans>
                      </Button>
                    ) : undefined
                  }
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Section>
  );
}

function Fixed({ settings }: { settings: readonly SystemSetting[] }) {
  const { t } = useLingui();
  return (
    <Section
      title={t`Set in the environment only`}
      lead={t`Needed to reach the database and to listen. Change them where the server is started.`}
    >
      <Rows label={t`Set in the environment only`}>
        {settings.map((setting) => (
          <Row
            key={setting.name}
            title={<Text span>{setting.name}</Text>}
            facts={[
              setting.is_secret ? (setting.is_set ? t`set` : t`not set`) : (setting.value ?? t`not set`),
              <Help key="help" setting={setting} />,
            ]}
          />
        ))}
      </Rows>
    </Section>
  );
}

import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import {
  Button,
  Fieldset,
  Group,
  Input,
  NativeSelect,
  PasswordInput,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { defaultProviderId } from "../../../contract/default-provider.ts";
import type { GroupMapping } from "../../../contract/sign-in-providers.ts";
import { ApiError } from "../../api/client/api-error.ts";
import {
  type SignInProvider,
  type SignInProviders,
  type SignInProviderValues,
  saveSignInProvider,
  settingChangesQuery,
  settingsQuery,
  startSignInTest,
} from "../../api/settings/system-settings.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { CopyField } from "../../common/dialogs/secret-once.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";

/** What a change of a provider changes. */
export const refreshedKeys = [settingsQuery.queryKey, settingChangesQuery.queryKey, ["system", "state"]];

/** Signs in at the provider in another tab, which shows what Parley would do. Opened at the click, or browsers block it. */
export async function trySignIn(id: string, values?: SignInProviderValues): Promise<void> {
  const tab = window.open("about:blank", "_blank");
  if (tab === null)
    throw new ApiError(
      0,
      "wrong_state",
      () => t`The browser blocked the new tab; allow pop-ups for this site and try again.`,
    );
  try {
    tab.location.href = (await startSignInTest(id, values)).url;
  } catch (error) {
    tab.close();
    throw error;
  }
}

/** What is registered at the provider. */
export function ProviderUrls({ redirect, logout }: { redirect: string; logout: string }) {
  const { t } = useLingui();
  return (
    <>
      <CopyField
        label={t`Redirect URL`}
        description={t`Enter it where you register Parley at the provider`}
        value={redirect}
      />
      <CopyField
        label={t`Back-channel logout URL`}
        description={t`Optional: where the provider reports that a user signed out there`}
        value={logout}
      />
    </>
  );
}

/** Adds or changes a provider. Not kept as a draft, because it holds a secret. */
export function ProviderForm(props: {
  /** Absent: a new one. */
  provider?: SignInProvider;
  all: SignInProviders;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const { provider, all, onDone } = props;
  const [chosenId, setId] = useState<string | null>(provider?.id ?? null);
  const [secret, setSecret] = useState("");
  const [values, setValues] = useState(() => valuesOf(provider));
  const change = (part: Partial<typeof values>) => setValues({ ...values, ...part });
  const id = trimHyphens(chosenId ?? toId(values.name));
  const twin = provider === undefined ? all.providers.find((one) => one.id === id) : undefined;
  const twinName = twin?.name;
  const body: SignInProviderValues = {
    ...values,
    groups_claim: values.groups_claim.trim() || null,
    ...(secret === "" ? {} : { client_secret: secret }),
  };
  const tried = useAction({ run: () => trySignIn(id, body), showsError: true });
  const save = useForm({
    run: () => saveSignInProvider(id, body),
    done: provider === undefined ? t`Provider added.` : t`Provider saved.`,
    refresh: refreshedKeys,
    onDone,
  });
  const triedError = ofValues(tried.error);
  const triedErrors = fieldErrors(triedError);
  const errorOf = (field: string) => save.errorOf(field) ?? triedErrors[field];
  const isIncomplete = id === "" || twin !== undefined;
  return (
    <Form
      form={{
        ...save,
        submit: () => {
          tried.reset();
          save.submit();
        },
      }}
      label={provider === undefined ? t`Add provider` : t`Save`}
      onCancel={onDone}
      isDisabled={isIncomplete}
      buttons={
        <Button
          variant="default"
          loading={tried.isPending}
          disabled={isIncomplete}
          onClick={() => {
            save.reset();
            tried.mutate();
          }}
        >
          <Trans>Try a sign-in</Trans>
        </Button>
      }
    >
      <TextInput
        label={t`Name`}
        description={t`Label of the button on the sign-in page`}
        placeholder={t`Example ID`}
        required
        data-autofocus
        maxLength={60}
        value={values.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={errorOf("name")}
      />
      {provider === undefined && (
        <TextInput
          label={t`ID`}
          description={t`Part of the redirect URL; can't be changed later`}
          required
          value={chosenId ?? id}
          onChange={(event) => setId(toId(event.currentTarget.value))}
          error={twinName === undefined ? undefined : t`${twinName} has this ID; choose another one`}
        />
      )}
      <ProviderUrls
        redirect={provider?.redirect_uri ?? redirectOf(all.new_redirect_uri, id)}
        logout={provider?.logout_uri ?? (id === "" ? all.new_logout_uri : withId(all.new_logout_uri, id))}
      />
      <TextInput
        label={t`Issuer`}
        description={t`URL of the provider, as its documentation or its metadata name it`}
        placeholder="https://id.example.com/realms/staff"
        inputMode="url"
        required
        maxLength={1000}
        value={values.issuer}
        onChange={(event) => change({ issuer: event.currentTarget.value })}
        error={errorOf("issuer")}
      />
      <TextInput
        label={t`Client ID`}
        description={t`The provider shows it, and the secret, once Parley is registered there`}
        required
        maxLength={500}
        value={values.client_id}
        onChange={(event) => change({ client_id: event.currentTarget.value })}
        error={errorOf("client_id")}
      />
      <PasswordInput
        visibilityToggleButtonProps={{ "aria-label": t`Show secret` }}
        label={t`Client secret`}
        autoComplete="off"
        required={provider === undefined}
        maxLength={1000}
        placeholder={provider === undefined ? "" : t`Set; leave empty to keep it`}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        error={errorOf("client_secret")}
      />
      <TagsInput
        label={t`Scopes`}
        description={t`Besides openid, email and profile. Press Enter after each.`}
        splitChars={[",", " "]}
        acceptValueOnBlur
        maxTags={30}
        value={values.scopes}
        onChange={(scopes) => change({ scopes })}
        error={errorOf("scopes")}
      />
      <TagsInput
        label={t`Allowed domains`}
        description={t`The provider may link and create only accounts with an email in one of these domains. Empty: all.`}
        placeholder={values.allowed_domains.length === 0 ? "example.com" : ""}
        splitChars={[",", " "]}
        acceptValueOnBlur
        maxTags={100}
        value={values.allowed_domains}
        onChange={(allowed_domains) => change({ allowed_domains })}
        error={errorOf("allowed_domains")}
      />
      <Switch
        label={t`Create accounts`}
        description={t`For users whose email is in a claimed domain`}
        checked={values.create_users}
        onChange={(event) => change({ create_users: event.currentTarget.checked })}
        error={errorOf("create_users")}
      />
      <Switch
        label={t`Trust emails`}
        description={t`Accept emails if the provider, such as Microsoft Entra ID, doesn't say whether they are verified. Only for an issuer of one organization.`}
        checked={values.trust_email}
        onChange={(event) => change({ trust_email: event.currentTarget.checked })}
        error={errorOf("trust_email")}
      />
      <TextInput
        label={t`Groups claim`}
        description={t`The claim that lists the user's groups, such as groups or realm_access.roles`}
        maxLength={200}
        value={values.groups_claim}
        onChange={(event) => change({ groups_claim: event.currentTarget.value })}
        error={errorOf("groups_claim")}
      />
      <Mappings
        mappings={values.groups}
        error={errorOf("groups")}
        onChange={(groups) => change({ groups })}
      />
      <FormError error={triedError} fields={[...save.shown]} />
    </Form>
  );
}

/** What members of each group get. */
function Mappings(props: {
  mappings: readonly GroupMapping[];
  error: string | undefined;
  onChange: (mappings: GroupMapping[]) => void;
}) {
  const { t } = useLingui();
  const { mappings, error, onChange } = props;
  const entry = (position: number) => t`Entry ${position}`;
  const removeEntry = (position: number) => t`Remove entry ${position}`;
  const set = (index: number, part: Partial<GroupMapping>) =>
    onChange(mappings.map((one, at) => (at === index ? { ...one, ...part } : one)));
  return (
    <Input.Wrapper
      label={t`Group mappings`}
      labelElement="div"
      description={t`Teams and a role for the members of a group, at each sign-in`}
      error={error}
    >
      <Stack gap="sm" mt="xs">
        {mappings.map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other identity while they are typed.
          <Fieldset key={index} legend={entry(index + 1)} radius="md">
            <Stack gap="sm">
              <TextInput
                label={t`Group`}
                description={t`As the claim names it: a name, a path or an ID`}
                required
                maxLength={300}
                value={one.group}
                onChange={(event) => set(index, { group: event.currentTarget.value })}
              />
              <TagsInput
                label={t`Teams`}
                description={t`Names of teams. Press Enter after each.`}
                acceptValueOnBlur
                maxTags={50}
                value={one.teams}
                onChange={(teams) => set(index, { teams })}
              />
              <NativeSelect
                label={t`Role`}
                data={[
                  { value: "", label: t`None` },
                  { value: "viewer", label: t`Viewer` },
                  { value: "member", label: t`Member` },
                  { value: "admin", label: t`Admin` },
                ]}
                value={one.role ?? ""}
                onChange={(event) => set(index, { role: roleOf(event.currentTarget.value) })}
              />
              <Button
                variant="subtle"
                color="red"
                size="compact-sm"
                w="fit-content"
                aria-label={removeEntry(index + 1)}
                onClick={() => onChange(mappings.filter((_, at) => at !== index))}
              >
                <Trans>Remove</Trans>
              </Button>
            </Stack>
          </Fieldset>
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={16} />}
            disabled={mappings.length >= maxMappings}
            onClick={() => onChange([...mappings, { group: "", teams: [], role: null }])}
          >
            <Trans>Add group mapping</Trans>
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}

const maxMappings = 200;

function roleOf(text: string): GroupMapping["role"] {
  return (["viewer", "member", "admin"] as const).find((role) => role === text) ?? null;
}

function valuesOf(provider: SignInProvider | undefined) {
  return {
    name: provider?.name ?? "",
    issuer: provider?.issuer ?? "",
    client_id: provider?.client_id ?? "",
    scopes: provider?.scopes ?? [],
    allowed_domains: provider?.allowed_domains ?? [],
    create_users: provider?.create_users ?? false,
    trust_email: provider?.trust_email ?? false,
    groups_claim: provider?.groups_claim ?? "",
    groups: provider?.groups ?? [],
  };
}

/** Lower-case letters, digits and hyphens; the last may still be a hyphen while it is typed. */
function toId(text: string): string {
  const id = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return (id.startsWith("-") ? id.slice(1) : id).slice(0, 40);
}

function trimHyphens(id: string): string {
  return id.endsWith("-") ? id.slice(0, -1) : id;
}

function withId(url: string, id: string): string {
  return url.slice(0, -"ID".length) + id;
}

/** The default provider's redirect URL has no ID. */
function redirectOf(url: string, id: string): string {
  if (id === defaultProviderId) return url.slice(0, -"/ID".length);
  return id === "" ? url : withId(url, id);
}

/** Errors of a test at the fields: the values are a part of its request. */
function ofValues(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, code, violations } = error;
  return new ApiError(
    status,
    code,
    () => error.message,
    violations.map(({ pointer, ...rest }) => ({ ...rest, pointer: pointer.replace("/provider/values", "") })),
  );
}

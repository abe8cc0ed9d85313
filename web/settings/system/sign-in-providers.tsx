import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  deleteSignInProvider,
  type SignInProviders as Providers,
  type SignInProvider,
  type SystemSetting,
  signInProvidersQuery,
  testSettings,
} from "../../api/settings/system-settings.ts";
import { ServerText } from "../../causes/server-text.tsx";
import { useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, NoneYet, Row, RowButton, Rows, Tag } from "../parts.tsx";
import { withLabels } from "./setting-texts.ts";
import { ProviderForm, ProviderUrls, refreshedKeys, trySignIn } from "./sign-in-provider-form.tsx";

/** The providers of single sign-on. @param list the setting that holds them. */
export function SignInProviders({ list }: { list: SystemSetting | undefined }) {
  const query = useQuery(signInProvidersQuery);
  return (
    <Stack gap="sm" mb="lg">
      <Loaded query={query}>{(providers) => <List providers={providers} list={list} />}</Loaded>
    </Stack>
  );
}

function List({ providers: all, list }: { providers: Providers; list: SystemSetting | undefined }) {
  const { t } = useLingui();
  const { providers, locked_by } = all;
  const [opened, { open, close }] = useDisclosure();
  const tested = useAction({ run: () => testSettings("sign_in", {}) });
  return (
    <>
      <div>
        <Title order={3} size="h5">
          <Trans>Providers</Trans>
        </Title>
        <Text size="sm" c="dimmed">
          {leadOf(list, locked_by)}
        </Text>
      </div>
      {providers.length === 0 ? (
        <NoneYet>
          <Trans>No providers yet. Users sign in with an email and password.</Trans>
        </NoneYet>
      ) : (
        <Rows label={t`Providers`}>
          {providers.map((provider) => (
            <ProviderRow key={provider.id} provider={provider} all={all} />
          ))}
        </Rows>
      )}
      <Group>
        {locked_by === null && (
          <Button variant="default" leftSection={<IconPlus size={18} />} onClick={open}>
            <Trans>Add provider</Trans>
          </Button>
        )}
        {providers.length > 0 && (
          <Button variant="default" loading={tested.isPending} onClick={() => tested.mutate()}>
            <Trans>Test providers</Trans>
          </Button>
        )}
      </Group>
      {tested.data !== undefined && !tested.isPending && (
        <Alert
          color={tested.data.passed ? "green" : "red"}
          role="status"
          title={tested.data.passed ? t`It works` : t`It doesn't work yet`}
        >
          <ServerText text={tested.data.message} shown={withLabels} />
        </Alert>
      )}
      <FormDialog opened={opened} onClose={close} title={t`Add provider`} size="lg">
        <ProviderForm all={all} onDone={close} />
      </FormDialog>
    </>
  );
}

/** What the list is for, and what set it or when an admin last changed it. */
function leadOf(list: SystemSetting | undefined, lockedBy: Providers["locked_by"]): string {
  if (lockedBy === "environment")
    return t`Each is a button on the sign-in page. Set by PARLEY_OIDC_PROVIDERS.`;
  if (lockedBy === "file") return t`Each is a button on the sign-in page. Set by the file of settings.`;
  if (list === undefined || list.changed_datetime === null) return t`Each is a button on the sign-in page.`;
  const time = whenInLine(list.changed_datetime);
  const admin = list.changed_by;
  return admin === null
    ? t`Each is a button on the sign-in page. Last changed ${time}.`
    : t`Each is a button on the sign-in page. Last changed ${time} by ${admin}.`;
}

const sources: Readonly<Record<SignInProvider["source"], MessageDescriptor>> = {
  environment: msg`Set by the environment`,
  file: msg`Set by the file of settings`,
  app: msg`Set in the app`,
};

function ProviderRow({ provider, all }: { provider: SignInProvider; all: Providers }) {
  const { t } = useLingui();
  const { id, name, issuer, source } = provider;
  const [opened, { open, close }] = useDisclosure();
  const signIn = useAction({ run: () => trySignIn(id) });
  const isLocked = source !== "app" || all.locked_by !== null;
  return (
    <Row
      title={name}
      badges={<Tag>{t(sources[source])}</Tag>}
      facts={[issuer]}
      actions={
        <>
          <RowButton text={t`Try a sign-in`} label={t`Try a sign-in with ${name}`} action={signIn} />
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={isLocked ? t`Show URLs of ${name}` : t`Change ${name}`}
            onClick={open}
          >
            {isLocked ? t`Show URLs` : t`Change`}
          </Button>
          {!isLocked && (
            <ConfirmButton
              text={t`Remove`}
              button={{ "aria-label": t`Remove ${name}` }}
              title={t`Remove ${name}?`}
              label={t`Remove provider`}
              run={() => deleteSignInProvider(id)}
              done={t`Provider removed.`}
              refresh={refreshedKeys}
            >
              <Trans>
                Users can no longer sign in with {name}. Their accounts stay linked, in case you add it again.
              </Trans>
            </ConfirmButton>
          )}
        </>
      }
    >
      <FormDialog opened={opened} onClose={close} title={name} size="lg">
        {isLocked ? (
          <ProviderUrls redirect={provider.redirect_uri} logout={provider.logout_uri} />
        ) : (
          <ProviderForm provider={provider} all={all} onDone={close} />
        )}
      </FormDialog>
    </Row>
  );
}

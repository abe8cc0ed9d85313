import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../../api/session.ts";
import {
  connectMySingleSignOn,
  mySingleSignOnQuery,
  unbindMySingleSignOn,
} from "../../api/settings/account.ts";
import { FormError } from "../../common/actions.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { NoneYet, Row, Rows, Section } from "../parts.tsx";

/** The providers with which the user signs in; nothing if the server has no single sign-on. */
export function SingleSignOn() {
  const { t } = useLingui();
  const { data } = useQuery(mySingleSignOnQuery);
  const connect = useMutation({
    mutationFn: connectMySingleSignOn,
    onSuccess: ({ url }) => window.location.assign(url),
  });
  if (data === undefined) return null;
  const { connections, available } = data;
  if (connections.length + available.length === 0) return null;
  const isOnlyWay = connections.length > 0 && !connections.some(({ can_unlink }) => can_unlink);
  return (
    <Section
      title={t`Single sign-on`}
      lead={
        isOnlyWay
          ? t`Your only way to sign in. To unlink it, add another one first, or ask an admin for a link to set a password.`
          : t`Sign in with an account at an identity provider.`
      }
      action={
        available.length === 0 ? undefined : (
          <Group gap="xs">
            {available.map(({ id, name }) => (
              <Button
                key={id}
                variant="light"
                size="sm"
                loading={connect.isPending && connect.variables === id}
                onClick={() => connect.mutate(id)}
              >
                <Trans>Connect {name}</Trans>
              </Button>
            ))}
          </Group>
        )
      }
    >
      <FormError error={connect.error} fields={[]} />
      {connections.length === 0 ? (
        <NoneYet>
          <Trans>Not linked.</Trans>
        </NoneYet>
      ) : (
        <Rows label={t`Single sign-on`}>
          {connections.map(({ issuer, name, connected_datetime, can_unlink }) => (
            <Row
              key={issuer}
              title={name ?? hostOf(issuer)}
              facts={[
                issuer,
                t`linked ${{ time: whenInLine(connected_datetime) }}`,
                name === null && t`no longer offered by this server`,
              ]}
              actions={
                can_unlink ? (
                  <ConfirmButton
                    text={t`Unlink`}
                    button={{
                      ...{ variant: "subtle", size: "compact-sm", color: "red" },
                      "aria-label": t`Unlink ${{ provider: name ?? hostOf(issuer) }}`,
                    }}
                    title={t`Unlink single sign-on?`}
                    label={t`Unlink`}
                    run={() => unbindMySingleSignOn(issuer)}
                    done={t`Single sign-on unlinked.`}
                    refresh={[mySingleSignOnQuery.queryKey, sessionQuery.queryKey, ["users"]]}
                  >
                    <Trans>
                      Sessions that it began end, except this one. If no other provider is linked, your next
                      sign-in with it links it again, by your verified email.
                    </Trans>
                  </ConfirmButton>
                ) : undefined
              }
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

/** The host of a provider's URL. */
function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

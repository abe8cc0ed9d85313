import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type Session, sessionQuery } from "../../api/session.ts";
import { unbindMySingleSignOn } from "../../api/settings/account.ts";
import { workspaceQuery } from "../../api/settings/workspace.ts";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { NoneYet, Row, Rows, Section } from "../parts.tsx";

/** The user's single sign-on identities; nothing if the server has no single sign-on. */
export function SingleSignOn({ session }: { session: Session }) {
  const { t } = useLingui();
  const provider = useQuery(workspaceQuery).data?.single_sign_on ?? null;
  const { identities, has_password } = session;
  if (identities.length === 0 && provider === null) return null;
  const providerName = provider?.name;
  return (
    <Section
      title={t`Single sign-on`}
      lead={
        identities.length > 0 && !has_password
          ? t`Your only way to sign in. To unlink it, first ask an admin for a link to set a password.`
          : t`Sign in with an account at an identity provider.`
      }
      action={
        identities.length > 0 && has_password ? (
          <ConfirmButton
            text={t`Unlink`}
            button={{ variant: "light", size: "sm" }}
            title={t`Unlink single sign-on?`}
            label={t`Unlink`}
            run={unbindMySingleSignOn}
            done={t`Single sign-on unlinked. Sign in with your password.`}
            refresh={[sessionQuery.queryKey, ["users"]]}
          >
            <Trans>
              You can then only sign in with your password. Active sessions stay signed in. Your next single
              sign-on links the account with your verified email again.
            </Trans>
          </ConfirmButton>
        ) : undefined
      }
    >
      {identities.length === 0 ? (
        <NoneYet>
          <Trans>Not linked. Sign in with {providerName} once to link the account with your email.</Trans>
        </NoneYet>
      ) : (
        <Rows label={t`Single sign-on`}>
          {identities.map(({ issuer, bound_datetime }) => (
            <Row
              key={issuer}
              title={hostOf(issuer)}
              facts={[issuer, t`linked ${{ time: whenInLine(bound_datetime) }}`]}
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

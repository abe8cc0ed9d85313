import { useQuery } from "@tanstack/react-query";
import { unbindMySingleSignOn } from "../api/account.ts";
import { type Session, sessionQuery } from "../api/session.ts";
import { workspaceQuery } from "../api/workspace-settings.ts";
import { ConfirmButton } from "../common/confirm.tsx";
import { whenInLine } from "../common/time.ts";
import { NoneYet, Row, Rows, Section } from "./parts.tsx";

/** The accounts at a provider of single sign-on that one signs in by; nothing where there is no such thing. */
export function SingleSignOn({ session }: { session: Session }) {
  const provider = useQuery(workspaceQuery).data?.single_sign_on ?? null;
  const { identities, has_password } = session;
  if (identities.length === 0 && provider === null) return null;
  return (
    <Section
      title="Single sign-on"
      lead={
        identities.length > 0 && !has_password
          ? "Your only way to sign in: without a password it can't be unbound. An admin can give you a link to set one."
          : "An account elsewhere by which you sign in here."
      }
      action={
        identities.length > 0 && has_password ? (
          <ConfirmButton
            text="Unbind"
            button={{ variant: "light", size: "sm" }}
            title="Unbind single sign-on?"
            label="Unbind"
            run={unbindMySingleSignOn}
            done="Single sign-on is unbound. You sign in with your password."
            refresh={[sessionQuery.queryKey, ["people"]]}
          >
            This server forgets which account you have there, and you sign in with your password. Where you
            are signed in you stay so. Signing in by it again binds the account with your verified email.
          </ConfirmButton>
        ) : undefined
      }
    >
      {identities.length === 0 ? (
        <NoneYet>
          Not bound. Sign in with {provider?.name} once, and the account there with your email is yours here.
        </NoneYet>
      ) : (
        <Rows label="Single sign-on">
          {identities.map(({ issuer, bound_datetime }) => (
            <Row
              key={issuer}
              title={hostOf(issuer)}
              facts={[issuer, `bound ${whenInLine(bound_datetime)}`]}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

/** What a provider is called by its address. */
function hostOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer;
}

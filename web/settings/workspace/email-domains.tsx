import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Code, Stack, Text, TextInput } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  createDomainClaim,
  type DomainClaim,
  deleteDomainClaim,
  domainClaimsQuery,
  verifyDomainClaim,
} from "../../api/settings/email-domains.ts";
import type { Workspace } from "../../api/settings/workspace.ts";
import { FormError, useAction } from "../../common/actions.tsx";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, Panel, Row, RowButton, Rows, Section } from "../parts.tsx";

const refresh = [domainClaimsQuery.queryKey];

/** Email domains claimed by the workspace, verified or pending. */
export function ClaimedDomains({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const claims = useQuery(domainClaimsQuery);
  return (
    <Section
      title={t`Claimed email domains`}
      lead={t`Users with an email in a claimed domain can have an account in this workspace only.`}
    >
      <Stack gap="sm">
        <Loaded query={claims}>
          {({ claims }) =>
            claims.length === 0 ? null : (
              <Rows label={t`Claimed email domains`}>
                {claims.map((claim) => (
                  <ClaimRow key={claim.domain} claim={claim} />
                ))}
              </Rows>
            )
          }
        </Loaded>
        <ClaimForm workspace={workspace} />
      </Stack>
    </Section>
  );
}

function ClaimRow({ claim }: { claim: DomainClaim }) {
  const { t } = useLingui();
  const { domain, state, claimed_by, dns_record } = claim;
  const verify = useAction({
    run: () => verifyDomainClaim(domain),
    done: t`${domain} claimed.`,
    refresh,
    showsError: true,
  });
  return (
    <Row
      title={domain}
      facts={[
        state === "pending"
          ? t`Waiting for the DNS record`
          : claimed_by === "dns"
            ? t`Verified by DNS`
            : t`Claimed by the server's operator`,
      ]}
      actions={
        <>
          {state === "pending" ? (
            <RowButton text={t`Verify`} label={t`Verify ${domain}`} action={verify} />
          ) : null}
          <ConfirmButton
            text={t`Delete`}
            button={{ "aria-label": t`Delete claim of ${domain}` }}
            title={t`Delete claim of ${domain}?`}
            label={t`Delete claim`}
            run={() => deleteDomainClaim(domain)}
            done={t`Claim of ${domain} deleted.`}
            refresh={refresh}
          >
            <Trans>
              Other workspaces of this server can then invite users with this domain. Accounts stay.
            </Trans>
          </ConfirmButton>
        </>
      }
    >
      {state === "pending" ? (
        <Stack gap={4} mt={8}>
          <Text size="sm">
            <Trans>Create this DNS record at your DNS provider, then select Verify:</Trans>
          </Text>
          <Code block>{`${dns_record.name}  ${dns_record.type}  ${dns_record.value}`}</Code>
          <FormError error={verify.error} fields={[]} />
        </Stack>
      ) : null}
    </Row>
  );
}

function ClaimForm({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const [domain, setDomain] = useState("");
  const add = useForm({
    run: () => createDomainClaim(domain),
    refresh,
    onDone: () => setDomain(""),
  });
  return (
    <Panel>
      <Stack gap="sm" maw={520}>
        <Form form={add} label={t`Add domain`} isDisabled={domain.trim() === ""} maxWidth={520}>
          <TextInput
            label={t`Domain`}
            description={t`You'll prove with a DNS record that you own it.`}
            placeholder="example.com"
            maxLength={253}
            value={domain}
            onChange={(event) => setDomain(event.currentTarget.value)}
            error={add.errorOf("domain")}
          />
        </Form>
        <Joining workspace={workspace} />
      </Stack>
    </Panel>
  );
}

/** Explains whether users of claimed domains get an account automatically, a server setting. */
function Joining({ workspace: { single_sign_on: provider } }: { workspace: Workspace }) {
  const { t } = useLingui();
  const isOpen = provider?.makes_accounts === true;
  const providerName = provider?.name;
  return (
    <Alert
      variant="light"
      color={isOpen ? "yellow" : "gray"}
      c="bright"
      icon={<IconInfoCircle size={18} aria-hidden />}
    >
      <Text size="sm">
        {isOpen
          ? t`Users with a claimed domain who sign in with ${providerName} get an account here as a member, without an invitation.`
          : provider === null
            ? t`Users join by invitation. The server has no single sign-on.`
            : t`Users join by invitation, and can then sign in with ${providerName}.`}
      </Text>
    </Alert>
  );
}

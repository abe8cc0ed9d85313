import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { describeTarget } from "../../contract/accounts/redirect-target.ts";
import { usersQuery } from "../api/directory.ts";
import { type Grant, grantsQuery, revokeGrant, updateGrant } from "../api/settings/account.ts";
import { FormDialog, useUnsavedInDialog } from "../common/dialogs/form-dialog.tsx";
import { whenInLine } from "../common/format/time.ts";
import { ConfirmButton } from "../common/forms/confirm.tsx";
import { Form, useForm } from "../common/forms/form.tsx";
import { LoadMore } from "../common/lists/load-more.tsx";
import { ErrorState } from "../common/states.tsx";
import {
  CompatibilityFields,
  type CompatibilityValue,
  chosen,
  compatibilityErrors,
  compatibilityFacts,
  compatibilityFields,
} from "./compatibility-fields.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, Tag } from "./parts.tsx";

/** Apps that have access to the user's account, or to any account of the workspace. */
export function Grants({ of }: { of: "me" | "workspace" }) {
  const { t } = useLingui();
  const query = useInfiniteQuery(grantsQuery(of));
  const users = useQuery({ ...usersQuery, enabled: of === "workspace" });
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const grants = query.data.pages.flatMap(({ grants }) => grants);
  if (grants.length === 0)
    return (
      <NoneYet>
        <Trans>No connected apps.</Trans>
      </NoneYet>
    );
  const nameOf = (userId: string): string =>
    users.data?.users.find(({ id }) => id === userId)?.name ?? "a user";
  return (
    <div>
      <Rows label={t`Connected apps`}>
        {grants.map((grant) => (
          <GrantRow key={grant.id} grant={grant} owner={of === "me" ? null : nameOf(grant.user_id)} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

/** @param props.owner null: the user. */
function GrantRow({ grant, owner }: { grant: Grant; owner: string | null }) {
  const { t } = useLingui();
  const by = owner === null ? t`your account` : t`${owner}'s account`;
  const [edits, { open, close }] = useDisclosure();
  const named = `${grant.client_name}${owner === null ? "" : t` for ${owner}`}`;
  return (
    <Row
      title={grant.client_name}
      badges={
        grant.self_registered ? (
          <Tag tone="warn">
            <Trans>Registered itself</Trans>
          </Tag>
        ) : null
      }
      facts={[
        ...(grant.self_registered ? identityOf(grant) : []),
        `authorized ${owner === null ? "" : `by ${owner} `}${whenInLine(grant.created_datetime)}`,
        t`last used ${whenInLine(grant.last_used_datetime)}`,
        grant.sign_ins === 1 ? "signed in once" : t`signed in ${grant.sign_ins} times`,
        ...compatibilityFacts(grant),
      ]}
      actions={
        <>
          {grant.self_registered ? (
            <Button variant="subtle" size="compact-sm" aria-label={t`Edit ${named}`} onClick={open}>
              <Trans>Edit</Trans>
            </Button>
          ) : null}
          <ConfirmButton
            text={t`Revoke`}
            button={{ "aria-label": t`Revoke ${named}` }}
            title={t`Revoke access of ${grant.client_name}?`}
            label={t`Revoke access`}
            run={() => revokeGrant(grant.id)}
            done={t`${grant.client_name} no longer has access.`}
            refresh={[["grants"]]}
          >
            <Trans>Its tokens for {by} stop working immediately. It can request access again.</Trans>
          </ConfirmButton>
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={t`Edit ${named}`} centered>
        <GrantForm grant={grant} onDone={close} />
      </FormDialog>
    </Row>
  );
}

/** How an app that registered itself reads and names things for one user. */
function GrantForm({ grant, onDone }: { grant: Grant; onDone: () => void }) {
  const { t } = useLingui();
  const [value, setValue] = useState<CompatibilityValue>(grant);
  // Not sent, so that what the user left alone still follows the server's setting.
  const unchanged = Object.fromEntries(
    compatibilityFields.filter((field) => value[field] === grant[field]).map((field) => [field, null]),
  );
  useUnsavedInDialog(Object.keys(unchanged).length < compatibilityFields.length, noDraft);
  const save = useForm({
    run: () => updateGrant(grant.id, chosen({ ...value, ...unchanged })),
    done: t`App saved.`,
    refresh: [["grants"]],
    onDone,
  });
  return (
    <Form form={save} label={t`Save`} onCancel={onDone}>
      <CompatibilityFields
        value={value}
        onChange={(change) => setValue((before) => ({ ...before, ...change }))}
        errors={compatibilityErrors(save)}
        canClear={false}
      />
    </Form>
  );
}

/** The form keeps no draft that closing the dialog would have to discard. */
function noDraft(): void {}

/** What is known of an app whose name nobody has checked, as the consent page shows it. */
function identityOf({ client_metadata_url, redirect_uris }: Grant): (string | null)[] {
  const targets = [...new Set(redirect_uris.map(describeTarget))];
  return [
    client_metadata_url === null ? null : t`described by ${new URL(client_metadata_url).host}`,
    t`sends access to ${targets.join(", ")}`,
  ];
}

import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { redirectTargetOf } from "../../contract/accounts/redirect-target.ts";
import { usersQuery } from "../api/directory.ts";
import { type Grant, grantsQuery, revokeGrant, updateGrant } from "../api/settings/account.ts";
import { FormDialog, useUnsavedInDialog } from "../common/dialogs/form-dialog.tsx";
import { namesInSentence } from "../common/format/names.ts";
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
    users.data?.users.find(({ id }) => id === userId)?.name ?? t`Unknown user`;
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
  const [edits, { open, close }] = useDisclosure();
  const app = grant.client_name;
  const edit = owner === null ? t`Edit ${app}` : t`Edit ${app} for ${owner}`;
  const authorized = whenInLine(grant.created_datetime);
  const used = whenInLine(grant.last_used_datetime);
  return (
    <Row
      title={app}
      badges={
        grant.self_registered ? (
          <Tag tone="warn">
            <Trans>Registered itself</Trans>
          </Tag>
        ) : null
      }
      facts={[
        ...(grant.self_registered ? identityOf(grant) : []),
        owner === null ? t`authorized ${authorized}` : t`authorized by ${owner} ${authorized}`,
        t`last used ${used}`,
        plural(grant.sign_ins, { one: "signed in once", other: "signed in # times" }),
        ...compatibilityFacts(grant),
      ]}
      actions={
        <>
          {grant.self_registered ? (
            <Button variant="subtle" size="compact-sm" aria-label={edit} onClick={open}>
              <Trans>Edit</Trans>
            </Button>
          ) : null}
          <ConfirmButton
            text={t`Revoke`}
            button={{ "aria-label": owner === null ? t`Revoke ${app}` : t`Revoke ${app} for ${owner}` }}
            title={t`Revoke access of ${app}?`}
            label={t`Revoke access`}
            run={() => revokeGrant(grant.id)}
            done={t`${app} no longer has access.`}
            refresh={[["grants"]]}
          >
            {owner === null ? (
              <Trans>
                Its tokens for your account stop working immediately. It can request access again.
              </Trans>
            ) : (
              <Trans>
                Its tokens for {owner}'s account stop working immediately. It can request access again.
              </Trans>
            )}
          </ConfirmButton>
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={edit} centered>
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
  const list = namesInSentence(targets);
  const host = client_metadata_url === null ? null : new URL(client_metadata_url).host;
  return [host === null ? null : t`described by ${host}`, t`sends access to ${list}`];
}

function describeTarget(uri: string): string {
  const { kind, name } = redirectTargetOf(uri);
  if (kind === "app") return t`the app on this device that handles ${name}`;
  return kind === "program" ? t`a program on this device` : name;
}

import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { addPasskey, hasPasskeys, passkeysQuery, removePasskey, renamePasskey } from "../../api/passkeys.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, NoneYet, Row, Rows, Section } from "../parts.tsx";
import { browserName } from "./browser-name.ts";

/** A passkey whose name is being entered; null: a new one. */
type Edited = { readonly id: string; readonly name: string } | null;

/** The user's passkeys. */
export function Passkeys() {
  const { t } = useLingui();
  const passkeys = useQuery(passkeysQuery);
  const [edited, setEdited] = useState<Edited | undefined>();
  const close = () => setEdited(undefined);
  return (
    <Section
      title={t`Passkeys`}
      lead={t`Sign in with your fingerprint, face or security key instead of a password.`}
      action={
        hasPasskeys() ? (
          <Button variant="light" size="sm" onClick={() => setEdited(null)}>
            <Trans>Add passkey</Trans>
          </Button>
        ) : undefined
      }
    >
      <Loaded query={passkeys}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <NoneYet>
              {hasPasskeys()
                ? t`No passkeys yet.`
                : t`This browser can't use passkeys here: they need https and a current browser.`}
            </NoneYet>
          ) : (
            <Rows label={t`Passkeys`}>
              {passkeys.map(({ id, name, uses, created_datetime, last_used_datetime }) => (
                <Row
                  key={id}
                  title={name}
                  facts={[
                    t`added ${{ time: whenInLine(created_datetime) }}`,
                    last_used_datetime === null ? t`never used` : used(uses, last_used_datetime),
                  ]}
                  actions={
                    <>
                      <Button
                        variant="subtle"
                        size="compact-sm"
                        aria-label={t`Rename ${name}`}
                        onClick={() => setEdited({ id, name })}
                      >
                        <Trans>Rename</Trans>
                      </Button>
                      <ConfirmButton
                        text={t`Remove`}
                        button={{
                          variant: "subtle",
                          size: "compact-sm",
                          color: "red",
                          "aria-label": t`Remove ${name}`,
                        }}
                        title={t`Remove the passkey ${name}?`}
                        label={t`Remove`}
                        run={() => removePasskey(id)}
                        done={t`Passkey removed.`}
                        refresh={[passkeysQuery.queryKey]}
                      >
                        <Trans>
                          It can't sign in any more. Delete it from your device or password manager too.
                        </Trans>
                      </ConfirmButton>
                    </>
                  }
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <FormDialog
        opened={edited !== undefined}
        onClose={close}
        title={edited === null ? t`Add a passkey` : t`Rename passkey`}
        centered
      >
        {edited === undefined ? null : <NameForm edited={edited} onClose={close} />}
      </FormDialog>
    </Section>
  );
}

function used(times: number, last: string): string {
  const time = whenInLine(last);
  return plural(times, { one: `used once, last ${time}`, other: `used # times, last ${time}` });
}

function NameForm({ edited, onClose }: { edited: Edited; onClose: () => void }) {
  const { t } = useLingui();
  const [name, setName] = useState(edited?.name ?? browserName(navigator.userAgent));
  const save = useForm({
    run: () => (edited === null ? addPasskey(name) : renamePasskey(edited.id, name)),
    done: edited === null ? t`Passkey added.` : t`Passkey renamed.`,
    refresh: [passkeysQuery.queryKey],
    onDone: onClose,
  });
  return (
    <Form
      form={save}
      label={edited === null ? t`Continue` : t`Save`}
      isDisabled={name.trim() === ""}
      onCancel={onClose}
    >
      {edited === null ? (
        <Text size="sm">
          <Trans>Your browser then asks for your fingerprint, face, PIN or security key.</Trans>
        </Text>
      ) : null}
      <TextInput
        label={t`Name`}
        description={t`To recognize it later.`}
        required
        data-autofocus
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={save.errorOf("name")}
      />
    </Form>
  );
}

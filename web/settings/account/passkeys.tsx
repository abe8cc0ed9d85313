import { Button, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { browserName } from "../../../shared/browser-name.ts";
import { addPasskey, hasPasskeys, passkeysQuery, removePasskey, renamePasskey } from "../../api/passkeys.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, NoneYet, Row, Rows, Section } from "../parts.tsx";

/** A passkey whose name is being entered; null: a new one. */
type Edited = { readonly id: string; readonly name: string } | null;

/** The user's passkeys. */
export function Passkeys() {
  const passkeys = useQuery(passkeysQuery);
  const [edited, setEdited] = useState<Edited | undefined>();
  const close = () => setEdited(undefined);
  return (
    <Section
      title="Passkeys"
      lead="Sign in with your fingerprint, face or security key instead of a password."
      action={
        hasPasskeys() ? (
          <Button variant="light" size="sm" onClick={() => setEdited(null)}>
            Add passkey
          </Button>
        ) : undefined
      }
    >
      <Loaded query={passkeys}>
        {({ passkeys }) =>
          passkeys.length === 0 ? (
            <NoneYet>
              {hasPasskeys()
                ? "No passkeys yet."
                : "This browser can't use passkeys here: they need https and a current browser."}
            </NoneYet>
          ) : (
            <Rows label="Passkeys">
              {passkeys.map(({ id, name, uses, created_datetime, last_used_datetime }) => (
                <Row
                  key={id}
                  title={name}
                  facts={[
                    `added ${whenInLine(created_datetime)}`,
                    last_used_datetime === null
                      ? "never used"
                      : `used ${uses === 1 ? "once" : `${uses} times`}, last ${whenInLine(last_used_datetime)}`,
                  ]}
                  actions={
                    <>
                      <Button
                        variant="subtle"
                        size="compact-sm"
                        aria-label={`Rename ${name}`}
                        onClick={() => setEdited({ id, name })}
                      >
                        Rename
                      </Button>
                      <ConfirmButton
                        text="Remove"
                        button={{
                          variant: "subtle",
                          size: "compact-sm",
                          color: "red",
                          "aria-label": `Remove ${name}`,
                        }}
                        title={`Remove the passkey ${name}?`}
                        label="Remove"
                        run={() => removePasskey(id)}
                        done="Passkey removed."
                        refresh={[passkeysQuery.queryKey]}
                      >
                        It can't sign in any more. Delete it from your device or password manager too.
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
        title={edited === null ? "Add a passkey" : "Rename passkey"}
        centered
      >
        {edited === undefined ? null : <NameForm edited={edited} onClose={close} />}
      </FormDialog>
    </Section>
  );
}

function NameForm({ edited, onClose }: { edited: Edited; onClose: () => void }) {
  const [name, setName] = useState(edited?.name ?? browserName(navigator.userAgent));
  const save = useForm({
    run: () => (edited === null ? addPasskey(name) : renamePasskey(edited.id, name)),
    done: edited === null ? "Passkey added." : "Passkey renamed.",
    refresh: [passkeysQuery.queryKey],
    onDone: onClose,
  });
  return (
    <Form
      form={save}
      label={edited === null ? "Continue" : "Save"}
      isDisabled={name.trim() === ""}
      onCancel={onClose}
    >
      {edited === null ? (
        <Text size="sm">Your browser then asks for your fingerprint, face, PIN or security key.</Text>
      ) : null}
      <TextInput
        label="Name"
        description="To recognize it later."
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

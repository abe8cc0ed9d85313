import { useLingui } from "@lingui/react/macro";
import { TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";

interface NameFormProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly run: (name: string) => Promise<unknown>;
  readonly done: string;
  readonly refresh: readonly (readonly string[])[];
}

/** A dialog that asks for a name. */
export function NameDialog(props: NameFormProps) {
  return (
    <FormDialog opened={props.opened} onClose={props.onClose} title={props.title} centered>
      <NameForm {...props} />
    </FormDialog>
  );
}

function NameForm({ label, value, run, done, refresh, onClose }: NameFormProps) {
  const { t } = useLingui();
  const [name, setName] = useState(value);
  const save = useForm({ run: () => run(name), done, refresh, onDone: onClose });
  return (
    <Form form={save} label={label} onCancel={onClose}>
      <TextInput
        label={t`Name`}
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={save.errorOf("name")}
      />
    </Form>
  );
}

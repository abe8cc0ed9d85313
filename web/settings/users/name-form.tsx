import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";

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
  const [name, setName] = useState(value);
  const save = useAction({ run: () => run(name), done, refresh, showsError: true, onDone: onClose });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldErrors(save.error).name}
        />
        <FormError error={save.error} fields={["name"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

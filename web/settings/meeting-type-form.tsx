import { Button, Group, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  createMeetingType,
  type MeetingType,
  meetingTypeKeys,
  type Scope,
  updateMeetingType,
} from "../api/workspace-settings.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";

/** Makes a meeting type, or changes what one is called and which meetings it is for. */
export function MeetingTypeForm({ type, onDone }: { type?: MeetingType; onDone: () => void }) {
  const [name, setName] = useState(type?.name ?? "");
  const [scope, setScope] = useState<Scope>(type?.scope ?? "internal");
  const save = useAction({
    run: () =>
      type === undefined ? createMeetingType(name, scope) : updateMeetingType(type.id, { name, scope }),
    done: type === undefined ? "The meeting type is there." : "The meeting type is changed.",
    refresh: meetingTypeKeys,
    showsError: true,
    onDone,
  });
  const isDefault = type?.is_default === true;
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
        <Select
          label="For meetings"
          {...(isDefault
            ? { description: "The default of its kind stays there. Make another one the default first." }
            : {})}
          allowDeselect={false}
          readOnly={isDefault}
          data={[
            { value: "internal", label: "Internal: nobody from outside took part" },
            { value: "external", label: "External: somebody from outside took part" },
          ]}
          value={scope}
          onChange={(value) => setScope((value ?? "internal") as Scope)}
        />
        <FormError error={save.error} fields={["name"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {type === undefined ? "Make type" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

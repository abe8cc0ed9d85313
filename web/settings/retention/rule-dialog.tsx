import { Button, Group, Modal, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type Conditions,
  createRule,
  type NewRule,
  type Rule,
  rulesQuery,
  updateRule,
} from "../../api/retention.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { whenInLine } from "../../common/time.ts";
import { RulePreviewed } from "./preview.tsx";
import { type Names, ruleInWords } from "./words.ts";

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly names: Names;
  /** The rule to change; a new one without. */
  readonly rule?: Rule;
}

/** Makes or changes a rule: first what it says, then what it would delete, and only then it is made. */
export function RuleDialog(props: DialogProps) {
  const { opened, onClose, rule } = props;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={rule === undefined ? "New rule" : `Edit ${rule.name}`}
      centered
      size="lg"
    >
      <RuleForm {...props} />
    </Modal>
  );
}

const fields = ["name", "older_than_days", "team_id", "meeting_type_id", "tag", "scope"] as const;

function RuleForm({ rule, names, onClose }: DialogProps) {
  const [isLooking, setLooking] = useState(false);
  const [name, setName] = useState(rule?.name ?? "");
  const [conditions, setConditions] = useState<Conditions>({
    older_than_days: rule?.older_than_days ?? 365,
    team_id: rule?.team_id ?? null,
    meeting_type_id: rule?.meeting_type_id ?? null,
    tag: rule?.tag ?? null,
    scope: rule?.scope ?? null,
  });
  const set = (change: Partial<Conditions>) => setConditions((before) => ({ ...before, ...change }));
  const save = useAction({
    run: () => {
      const body: NewRule = { name, ...conditions };
      return rule === undefined ? createRule(body) : updateRule(rule.id, body);
    },
    done: ({ enabled, acts_from_datetime }) =>
      `The rule is ${rule === undefined ? "made" : "changed"}${
        enabled ? `. It acts from ${whenInLine(acts_from_datetime)} on` : ""
      }.`,
    refresh: [rulesQuery.queryKey],
    showsError: true,
    onDone: onClose,
  });
  const faults = fieldErrors(save.error);
  const isOff = rule?.enabled === false;
  if (isLooking)
    return (
      <Stack>
        <RulePreviewed conditions={conditions} names={names} willAct={!isOff} />
        {isOff ? (
          <Text size="sm" c="dimmed">
            The rule is off: it deletes nothing until it is switched on.
          </Text>
        ) : null}
        <FormError error={save.error} fields={[]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => setLooking(false)} data-autofocus>
            Back
          </Button>
          <Button color={isOff ? "indigo" : "red.9"} loading={save.isPending} onClick={() => save.mutate()}>
            {rule === undefined ? "Make rule" : "Save rule"}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.reset();
        setLooking(true);
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          placeholder="Old interviews"
          required
          data-autofocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults.name}
        />
        <NumberInput
          label="Older than"
          description="Days since a recording began."
          suffix={conditions.older_than_days === 1 ? " day" : " days"}
          required
          min={1}
          max={36_500}
          clampBehavior="blur"
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          value={conditions.older_than_days}
          onChange={(value) => set({ older_than_days: typeof value === "number" ? value : 1 })}
          error={faults.older_than_days}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <Select
            label="Meeting type"
            placeholder="Any type"
            clearable
            searchable
            data={[...names.types].map(([value, label]) => ({ value, label }))}
            value={conditions.meeting_type_id ?? null}
            onChange={(meeting_type_id) => set({ meeting_type_id })}
            error={faults.meeting_type_id}
          />
          <Select
            label="Who took part"
            placeholder="Anybody"
            clearable
            data={[
              { value: "internal", label: "Nobody from outside" },
              { value: "external", label: "Somebody from outside" },
            ]}
            value={conditions.scope ?? null}
            onChange={(scope) => set({ scope: scope as Conditions["scope"] })}
            error={faults.scope}
          />
        </SimpleGrid>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <Select
            label="Shared with the team"
            placeholder="Any or none"
            clearable
            searchable
            data={[...names.teams].map(([value, label]) => ({ value, label }))}
            value={conditions.team_id ?? null}
            onChange={(team_id) => set({ team_id })}
            error={faults.team_id}
          />
          <TextInput
            label="Tag"
            placeholder="Any or none"
            maxLength={200}
            value={conditions.tag ?? ""}
            onChange={(event) =>
              set({ tag: event.currentTarget.value === "" ? null : event.currentTarget.value })
            }
            error={faults.tag}
          />
        </SimpleGrid>
        <Text size="sm" c="dimmed" aria-live="polite">
          {ruleInWords(conditions, names)}
        </Text>
        <FormError error={save.error} fields={fields} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Look what goes</Button>
        </Group>
      </Stack>
    </form>
  );
}

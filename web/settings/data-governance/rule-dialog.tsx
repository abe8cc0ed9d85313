import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  type Conditions,
  createRule,
  type NewRule,
  type Rule,
  rulesQuery,
  updateRule,
} from "../../api/settings/retention.ts";
import { FormError } from "../../common/actions.tsx";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { separators, unitAfter } from "../../common/format/numbers.ts";
import { whenInLine } from "../../common/format/time.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { describeRule, type Names } from "./describe-rule.ts";
import { RulePreview } from "./preview.tsx";

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly names: Names;
  /** The rule to edit; a new one if absent. */
  readonly rule?: Rule;
}

/** Creates or edits a rule: first its conditions, then a preview of what it would delete, then saving. */
export function RuleDialog(props: DialogProps) {
  const { t } = useLingui();
  const { opened, onClose, rule } = props;
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={rule === undefined ? t`New rule` : t`Edit ${{ name: rule.name }}`}
      centered
      size="lg"
    >
      <RuleForm {...props} />
    </FormDialog>
  );
}

function ruleSaved({ enabled, acts_from_datetime }: Rule, isNew: boolean): string {
  const time = whenInLine(acts_from_datetime);
  if (isNew) return enabled ? t`Rule created. It starts ${time}.` : t`Rule created.`;
  return enabled ? t`Rule saved. It starts ${time}.` : t`Rule saved.`;
}

function RuleForm({ rule, names, onClose }: DialogProps) {
  const { t } = useLingui();
  const [isPreviewing, setPreviewing] = useState(false);
  const draft = useDraft<{ name: string; conditions: Conditions }>(`rule:${rule?.id ?? "new"}`, {
    name: rule?.name ?? "",
    conditions: {
      older_than_days: rule?.older_than_days ?? 365,
      team_id: rule?.team_id ?? null,
      meeting_type_id: rule?.meeting_type_id ?? null,
      tag: rule?.tag ?? null,
      scope: rule?.scope ?? null,
    },
  });
  const { name, conditions } = draft.value;
  const set = (change: Partial<Conditions>) => draft.change({ conditions: { ...conditions, ...change } });
  const save = useForm({
    run: () => {
      const body: NewRule = { ...conditions, name };
      return rule === undefined ? createRule(body) : updateRule(rule.id, body);
    },
    done: (saved) => ruleSaved(saved, rule === undefined),
    refresh: [rulesQuery.queryKey],
    draft,
    onDone: onClose,
  });
  const preview = () => {
    save.reset();
    setPreviewing(true);
  };
  const isDisabled = rule?.enabled === false;
  if (isPreviewing)
    return (
      <Stack>
        <RulePreview conditions={conditions} names={names} willAct={!isDisabled} />
        {isDisabled ? (
          <Text size="sm" c="dimmed">
            <Trans>The rule is disabled and deletes nothing until you enable it.</Trans>
          </Text>
        ) : null}
        <FormError error={save.error} fields={[]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => setPreviewing(false)} data-autofocus>
            <Trans>Back</Trans>
          </Button>
          <Button color={isDisabled ? "indigo" : "red.9"} loading={save.isPending} onClick={save.submit}>
            {rule === undefined ? t`Create rule` : t`Save rule`}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <Form form={{ ...save, submit: preview }} label={t`Preview`} onCancel={onClose}>
      <TextInput
        label={t`Name`}
        placeholder={t`Old interviews`}
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
        error={save.errorOf("name")}
      />
      <NumberInput
        label={t`Older than`}
        description={t`Days since the recording started.`}
        suffix={unitAfter(conditions.older_than_days, "day")}
        required
        min={1}
        max={36_500}
        clampBehavior="blur"
        allowDecimal={false}
        allowNegative={false}
        {...separators()}
        value={conditions.older_than_days}
        onChange={(value) => set({ older_than_days: typeof value === "number" ? value : 1 })}
        error={save.errorOf("older_than_days")}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <Select
          label={t`Meeting type`}
          placeholder={t`Any type`}
          clearable
          searchable
          data={[...names.types].map(([value, label]) => ({ value, label }))}
          value={conditions.meeting_type_id ?? null}
          onChange={(meeting_type_id) => set({ meeting_type_id })}
          error={save.errorOf("meeting_type_id")}
        />
        <Select
          label={t`Participants`}
          placeholder={t`Anyone`}
          clearable
          data={[
            { value: "internal", label: t`Internal only` },
            { value: "external", label: t`With guests` },
          ]}
          value={conditions.scope ?? null}
          onChange={(scope) => set({ scope: scope as Conditions["scope"] })}
          error={save.errorOf("scope")}
        />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <Select
          label={t`Shared with team`}
          placeholder={t`Any or none`}
          clearable
          searchable
          data={[...names.teams].map(([value, label]) => ({ value, label }))}
          value={conditions.team_id ?? null}
          onChange={(team_id) => set({ team_id })}
          error={save.errorOf("team_id")}
        />
        <TextInput
          label={t`Tag`}
          placeholder={t`Any or none`}
          maxLength={200}
          value={conditions.tag ?? ""}
          onChange={(event) =>
            set({ tag: event.currentTarget.value === "" ? null : event.currentTarget.value })
          }
          error={save.errorOf("tag")}
        />
      </SimpleGrid>
      <Text size="sm" c="dimmed" aria-live="polite">
        {describeRule(conditions, names)}
      </Text>
    </Form>
  );
}

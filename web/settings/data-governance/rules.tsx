import { Anchor, Button, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meetingTypesQuery, teamsQuery } from "../../api/directory.ts";
import { deleteRule, type Rule, rulesQuery, updateRule } from "../../api/settings/retention.ts";
import { useAction } from "../../common/actions.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, NoneYet, Row, RowButton, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import classes from "./data-governance.module.css";
import { describeRule, type Names } from "./describe-rule.ts";
import { RulePreview } from "./preview.tsx";
import { Receipts } from "./receipts.tsx";
import { RuleDialog } from "./rule-dialog.tsx";

/** Retention rules and their receipts. */
export function RetentionPage() {
  const rules = useQuery(rulesQuery);
  const names = useNames();
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Retention"
      lead={
        <>
          Rules permanently delete old recordings, except those on{" "}
          <Anchor component={Link} to="/settings/holds" inherit underline="always">
            legal hold
          </Anchor>
          .
        </>
      }
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          {" "}
          Create rule{" "}
        </Button>
      }
    >
      <Loaded query={rules}>
        {({ rules }) =>
          rules.length === 0 ? (
            <NoneYet>No rules. Recordings stay until someone deletes them.</NoneYet>
          ) : (
            <Rows label="Rules">
              {rules.map((rule) => (
                <RuleRow key={rule.id} rule={rule} names={names} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Section title="Receipts" lead="Recordings deleted by rules. Only counts are kept.">
        <Receipts />
      </Section>
      <RuleDialog opened={opened} onClose={close} names={names} />
    </SettingsPage>
  );
}

function useNames(): Names {
  const teams = useQuery(teamsQuery).data?.teams ?? [];
  const types = useQuery(meetingTypesQuery).data?.meeting_types ?? [];
  return {
    teams: new Map(teams.map(({ id, name }) => [id, name])),
    types: new Map(types.map(({ id, name }) => [id, name])),
  };
}

function RuleRow({ rule, names }: { rule: Rule; names: Names }) {
  const [edits, editing] = useDisclosure();
  const [isPreviewing, preview] = useDisclosure();
  const disable = useAction({
    run: () => updateRule(rule.id, { enabled: false }),
    done: `${rule.name} disabled.`,
    refresh: [rulesQuery.queryKey],
  });
  return (
    <Row
      title={rule.name}
      badges={<RuleState rule={rule} />}
      facts={[
        <span key="words" className={classes.sentence}>
          {describeRule(rule, names)}
        </span>,
      ]}
      actions={
        <>
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={`Preview ${rule.name}`}
            onClick={preview.open}
          >
            Preview
          </Button>
          <Button variant="subtle" size="compact-sm" aria-label={`Edit ${rule.name}`} onClick={editing.open}>
            Edit
          </Button>
          {rule.enabled ? (
            <RowButton text="Disable" name={rule.name} action={disable} />
          ) : (
            <ConfirmButton
              text="Enable"
              button={{ color: "indigo", "aria-label": `Enable ${rule.name}` }}
              title={`Enable ${rule.name}?`}
              label="Enable"
              run={() => updateRule(rule.id, { enabled: true })}
              done={`${rule.name} enabled.`}
              refresh={[rulesQuery.queryKey]}
            >
              <RulePreview conditions={rule} names={names} willAct />
            </ConfirmButton>
          )}
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${rule.name}` }}
            title={`Delete rule ${rule.name}?`}
            label="Delete rule"
            run={() => deleteRule(rule.id)}
            done={`${rule.name} deleted.`}
            refresh={[rulesQuery.queryKey]}
          >
            It stops deleting recordings. Recordings it has deleted can't be restored, and their receipts
            stay.
          </ConfirmButton>
        </>
      }
    >
      <RuleDialog opened={edits} onClose={editing.close} names={names} rule={rule} />
      <Modal
        opened={isPreviewing}
        onClose={preview.close}
        title={`Preview of ${rule.name}`}
        centered
        size="lg"
      >
        <Stack>
          <RulePreview conditions={rule} names={names} />
        </Stack>
      </Modal>
    </Row>
  );
}

function RuleState({ rule }: { rule: Rule }) {
  if (!rule.enabled) return <Tag>Disabled</Tag>;
  if (new Date(rule.acts_from_datetime) > new Date())
    return <Tag tone="warn">Starts {whenInLine(rule.acts_from_datetime)}</Tag>;
  return <Tag tone="good">Enabled</Tag>;
}

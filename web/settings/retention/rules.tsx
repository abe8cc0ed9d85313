import { Anchor, Button, Modal, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { meetingTypesQuery, teamsQuery } from "../../api/recordings.ts";
import { deleteRule, type Rule, rulesQuery, updateRule } from "../../api/retention.ts";
import { useAction } from "../../common/actions.tsx";
import { ConfirmButton } from "../../common/confirm.tsx";
import { whenInLine } from "../../common/time.ts";
import { Loaded, NoneYet, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { RulePreviewed } from "./preview.tsx";
import { Receipts } from "./receipts.tsx";
import classes from "./retention.module.css";
import { RuleDialog } from "./rule-dialog.tsx";
import { type Names, ruleInWords } from "./words.ts";

/** Rules that delete old recordings, and what they have deleted. */
export function RetentionPage() {
  const rules = useQuery(rulesQuery);
  const names = useNames();
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Retention"
      lead={
        <>
          Rules delete old recordings by themselves, for good. What fits any of them goes, but for what a{" "}
          <Anchor component={Link} to={"/settings/holds" as string} inherit underline="always">
            legal hold
          </Anchor>{" "}
          keeps.
        </>
      }
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          New rule
        </Button>
      }
    >
      <Loaded query={rules}>
        {({ rules }) =>
          rules.length === 0 ? (
            <NoneYet>No rules: recordings stay until somebody deletes them.</NoneYet>
          ) : (
            <Rows label="Rules">
              {rules.map((rule) => (
                <RuleRow key={rule.id} rule={rule} names={names} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Section
        title="Receipts"
        lead="What rules have deleted. The recordings are gone, so nothing but numbers is left of them."
      >
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
  const [looks, looking] = useDisclosure();
  const switchOff = useAction({
    run: () => updateRule(rule.id, { enabled: false }),
    done: `${rule.name} is off: it deletes nothing.`,
    refresh: [rulesQuery.queryKey],
  });
  return (
    <Row
      title={rule.name}
      badges={<RuleState rule={rule} />}
      facts={[
        <span key="words" className={classes.sentence}>
          {ruleInWords(rule, names)}
        </span>,
      ]}
      actions={
        <>
          <Button
            variant="subtle"
            size="compact-sm"
            aria-label={`Preview of ${rule.name}`}
            onClick={looking.open}
          >
            Preview
          </Button>
          <Button variant="subtle" size="compact-sm" aria-label={`Edit ${rule.name}`} onClick={editing.open}>
            Edit
          </Button>
          {rule.enabled ? (
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={`Switch off ${rule.name}`}
              loading={switchOff.isPending}
              onClick={() => switchOff.mutate()}
            >
              Switch off
            </Button>
          ) : (
            <ConfirmButton
              text="Switch on"
              button={{ color: "indigo", "aria-label": `Switch on ${rule.name}` }}
              title={`Switch ${rule.name} on?`}
              label="Switch on"
              run={() => updateRule(rule.id, { enabled: true })}
              done={`${rule.name} is on.`}
              refresh={[rulesQuery.queryKey]}
            >
              <RulePreviewed conditions={rule} names={names} willAct />
            </ConfirmButton>
          )}
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${rule.name}` }}
            title={`Delete the rule ${rule.name}?`}
            label="Delete rule"
            run={() => deleteRule(rule.id)}
            done={`${rule.name} is deleted.`}
            refresh={[rulesQuery.queryKey]}
          >
            It deletes nothing any more. Recordings that it has deleted stay deleted, and their receipts stay.
          </ConfirmButton>
        </>
      }
    >
      <RuleDialog opened={edits} onClose={editing.close} names={names} rule={rule} />
      <Modal
        opened={looks}
        onClose={looking.close}
        title={`What ${rule.name} would delete now`}
        centered
        size="lg"
      >
        <Stack>
          <RulePreviewed conditions={rule} names={names} />
        </Stack>
      </Modal>
    </Row>
  );
}

function RuleState({ rule }: { rule: Rule }) {
  if (!rule.enabled) return <Tag>Off</Tag>;
  if (new Date(rule.acts_from_datetime) > new Date())
    return <Tag tone="warn">Acts from {whenInLine(rule.acts_from_datetime)}</Tag>;
  return <Tag tone="good">On</Tag>;
}

import { Trans, useLingui } from "@lingui/react/macro";
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
  const { t } = useLingui();
  const rules = useQuery(rulesQuery);
  const names = useNames();
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Retention`}
      lead={
        <Trans>
          Rules permanently delete old recordings, except those on{" "}
          <Anchor component={Link} to="/settings/holds" inherit underline="always">
            legal hold
          </Anchor>
          .
        </Trans>
      }
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create rule</Trans>
        </Button>
      }
    >
      <Loaded query={rules}>
        {({ rules }) =>
          rules.length === 0 ? (
            <NoneYet>
              <Trans>No rules. Recordings stay until someone deletes them.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Rules`}>
              {rules.map((rule) => (
                <RuleRow key={rule.id} rule={rule} names={names} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Section title={t`Receipts`} lead={t`Recordings deleted by rules. Only counts are kept.`}>
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
  const { t } = useLingui();
  const [edits, editing] = useDisclosure();
  const [isPreviewing, preview] = useDisclosure();
  const { name } = rule;
  const disable = useAction({
    run: () => updateRule(rule.id, { enabled: false }),
    done: t`${name} disabled.`,
    refresh: [rulesQuery.queryKey],
  });
  return (
    <Row
      title={name}
      badges={<RuleState rule={rule} />}
      facts={[
        <span key="words" className={classes.sentence}>
          {describeRule(rule, names)}
        </span>,
      ]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={t`Preview ${name}`} onClick={preview.open}>
            <Trans>Preview</Trans>
          </Button>
          <Button variant="subtle" size="compact-sm" aria-label={t`Edit ${name}`} onClick={editing.open}>
            <Trans>Edit</Trans>
          </Button>
          {rule.enabled ? (
            <RowButton text={t`Disable`} label={t`Disable ${name}`} action={disable} />
          ) : (
            <ConfirmButton
              text={t`Enable`}
              button={{ color: "indigo", "aria-label": t`Enable ${name}` }}
              title={t`Enable ${name}?`}
              label={t`Enable`}
              run={() => updateRule(rule.id, { enabled: true })}
              done={t`${name} enabled.`}
              refresh={[rulesQuery.queryKey]}
            >
              <RulePreview conditions={rule} names={names} willAct />
            </ConfirmButton>
          )}
          <ConfirmButton
            text={t`Delete`}
            button={{ "aria-label": t`Delete ${name}` }}
            title={t`Delete rule ${name}?`}
            label={t`Delete rule`}
            run={() => deleteRule(rule.id)}
            done={t`${name} deleted.`}
            refresh={[rulesQuery.queryKey]}
          >
            <Trans>
              It stops deleting recordings. Recordings it has deleted can't be restored, and their receipts
              stay.
            </Trans>
          </ConfirmButton>
        </>
      }
    >
      <RuleDialog opened={edits} onClose={editing.close} names={names} rule={rule} />
      <Modal opened={isPreviewing} onClose={preview.close} title={t`Preview of ${name}`} centered size="lg">
        <Stack>
          <RulePreview conditions={rule} names={names} />
        </Stack>
      </Modal>
    </Row>
  );
}

function RuleState({ rule }: { rule: Rule }) {
  if (!rule.enabled)
    return (
      <Tag>
        <Trans>Disabled</Trans>
      </Tag>
    );
  if (new Date(rule.acts_from_datetime) > new Date()) {
    const time = whenInLine(rule.acts_from_datetime);
    return (
      <Tag tone="warn">
        <Trans>Starts {time}</Trans>
      </Tag>
    );
  }
  return (
    <Tag tone="good">
      <Trans>Enabled</Trans>
    </Tag>
  );
}

import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Erasure,
  type ErasurePreview,
  erasePersonalData,
  erasurePreviewQuery,
  erasuresQuery,
} from "../../api/settings/retention.ts";
import { detailText } from "../../causes/describe.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { number } from "../../common/format/numbers.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { Loaded, Panel } from "../parts.tsx";
import classes from "./data-governance.module.css";
import { NamedList, WhyNamed } from "./named-list.tsx";

type Choice = Erasure["recordings"];

/** A person's data, with the choice of what to do with their recordings. */
export function FoundData({ email, onErased }: { email: string; onErased: () => void }) {
  const preview = useQuery(erasurePreviewQuery(email));
  return (
    <Loaded query={preview}>
      {(found) => (
        <Panel>
          <Found email={email} found={found} onErased={onErased} />
        </Panel>
      )}
    </Loaded>
  );
}

function Found(props: { email: string; found: ErasurePreview; onErased: () => void }) {
  const { t } = useLingui();
  const { email, found, onErased } = props;
  const [choice, setChoice] = useState<Choice>("anonymise");
  const [asks, { open, close }] = useDisclosure();
  const reason = found.refused;
  const hasNoData = found.account === null && found.recordings === 0 && found.uploads === 0;
  return (
    <Stack>
      <dl className={classes.figures}>
        <div>
          <dt>
            <Trans>Account</Trans>
          </dt>
          <dd>{found.account === null ? t({ context: "account", message: "None" }) : found.account.name}</dd>
        </div>
        <div>
          <dt>
            <Trans>Recordings with this person</Trans>
          </dt>
          <dd>{number(found.recordings)}</dd>
        </div>
        <div>
          <dt>
            <Trans>On legal hold</Trans>
          </dt>
          <dd>{number(found.held)}</dd>
        </div>
        <div>
          <dt>
            <Trans>Unfinished uploads</Trans>
          </dt>
          <dd>{number(found.uploads)}</dd>
        </div>
      </dl>
      <NamedList
        label={t`Recordings with this person, newest first`}
        recordings={found.newest}
        total={found.recordings - found.held}
      />
      {found.newest.length > 0 ? <WhyNamed /> : null}
      {reason === null ? null : (
        <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} c="bright">
          {detailText(found.refused_cause ?? undefined, reason)}
        </Alert>
      )}
      <Radio.Group label={t`Recordings`} value={choice} onChange={(value) => setChoice(value as Choice)}>
        <Stack gap="xs" mt="xs">
          <Radio
            value="anonymise"
            label={t`Keep and redact this person`}
            description={t`Erases their name, email, phone and all their words. The media file still contains voice and face.`}
          />
          <Radio
            value="delete"
            label={t`Delete them`}
            description={t`Deletes whole recordings for everyone, with files, transcripts, highlights and notes.`}
          />
        </Stack>
      </Radio.Group>
      {hasNoData ? (
        <Text size="sm" c="dimmed">
          <Trans>No data found for this email. Its entries in the audit log will still be erased.</Trans>
        </Text>
      ) : null}
      <Group>
        <Button color="red.9" disabled={reason !== null} onClick={open}>
          <Trans>Erase personal data…</Trans>
        </Button>
      </Group>
      <FormDialog opened={asks} onClose={close} title={t`Erase personal data?`} centered>
        <ConfirmErasure
          email={email}
          found={found}
          choice={choice}
          onCancel={close}
          onDone={() => {
            close();
            onErased();
          }}
        />
      </FormDialog>
    </Stack>
  );
}

function ConfirmErasure(props: {
  email: string;
  found: ErasurePreview;
  choice: Choice;
  onCancel: () => void;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const { email, found, choice } = props;
  const [typed, setTyped] = useState("");
  const erase = useForm({
    run: () => erasePersonalData(email, choice),
    done: t`Account erased. The rest continues in the background.`,
    refresh: [erasuresQuery.queryKey, ["users"], ["directory"], ["recordings"], ["team members"]],
    onDone: props.onDone,
  });
  const isSame = typed.trim().toLowerCase() === email.toLowerCase();
  return (
    <Form
      form={erase}
      label={t`Erase personal data`}
      color="red.9"
      onCancel={props.onCancel}
      isDisabled={!isSame}
    >
      <Text size="sm">
        <Trans>Permanently erases:</Trans>
      </Text>
      <ul className={classes.goes}>
        {willBeErased(found, choice).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <TextInput
        label={t`Type ${email} to confirm`}
        autoComplete="off"
        data-autofocus
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </Form>
  );
}

function willBeErased({ account, recordings, held, uploads }: ErasurePreview, choice: Choice): string[] {
  const free = recordings - held;
  return [
    ...(account === null
      ? []
      : [t`the account of ${{ name: account.name }}, with sessions, tokens, notes, shares and webhooks`]),
    ...(free === 0
      ? []
      : [
          choice === "delete"
            ? plural(free, { one: "# recording, for everyone", other: "# recordings, for everyone" })
            : plural(free, {
                one: "their name, contact details and words in # recording, and its summary",
                other:
                  "their name, contact details and words in # recordings, and the summaries of these recordings",
              }),
        ]),
    ...(uploads === 0
      ? []
      : [
          plural(uploads, {
            one: "their data in # unfinished upload",
            other: "their data in # unfinished uploads",
          }),
        ]),
    t`their email in the audit log, and pending webhook deliveries`,
    ...(held === 0
      ? []
      : [
          plural(held, {
            one: "not included: # recording on legal hold",
            other: "not included: # recordings on legal hold",
          }),
        ]),
  ];
}

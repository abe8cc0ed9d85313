import { Alert, Button, Group, Modal, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Erasure,
  type ErasurePreview,
  erasePerson,
  erasurePreviewQuery,
  erasuresQuery,
} from "../../api/retention.ts";
import { FormError, useAction } from "../../common/actions.tsx";
import { Loaded, Panel } from "../parts.tsx";
import { NamedList, WhyNamed } from "./named-list.tsx";
import classes from "./retention.module.css";
import { counted } from "./words.ts";

type Choice = Erasure["recordings"];

/** What there is of a person, and what is to become of it. */
export function PersonFound({ email, onErased }: { email: string; onErased: () => void }) {
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
  const { email, found, onErased } = props;
  const [choice, setChoice] = useState<Choice>("anonymise");
  const [asks, { open, close }] = useDisclosure();
  const isNothing = found.account === null && found.recordings === 0 && found.uploads === 0;
  return (
    <Stack>
      <dl className={classes.figures}>
        <div>
          <dt>Account</dt>
          <dd>{found.account === null ? "None" : found.account.name}</dd>
        </div>
        <div>
          <dt>Recordings they took part in</dt>
          <dd>{found.recordings.toLocaleString()}</dd>
        </div>
        <div>
          <dt>Of these under legal hold</dt>
          <dd>{found.held.toLocaleString()}</dd>
        </div>
        <div>
          <dt>Unfinished uploads</dt>
          <dd>{found.uploads.toLocaleString()}</dd>
        </div>
      </dl>
      <NamedList
        label="Recordings they took part in, the newest first"
        recordings={found.newest}
        total={found.recordings - found.held}
      />
      {found.newest.length > 0 ? <WhyNamed /> : null}
      {found.refused === null ? null : (
        <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} aria-hidden />} c="bright">
          This can't be done: {found.refused}.
        </Alert>
      )}
      <Radio.Group
        label="What becomes of the recordings"
        value={choice}
        onChange={(value) => setChoice(value as Choice)}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="anonymise"
            label="They stay, without the person"
            description="Name, email, phone and every word they spoke go. The file stays, with voice and face in it."
          />
          <Radio
            value="delete"
            label="They are deleted"
            description="As a whole, for everybody: with files, transcripts, highlights and notes of all."
          />
        </Stack>
      </Radio.Group>
      {isNothing ? (
        <Text size="sm" c="dimmed">
          Nothing is found by this email. What the audit log says of it would still be removed.
        </Text>
      ) : null}
      <Group>
        <Button color="red.9" disabled={found.refused !== null} onClick={open}>
          Forget this person…
        </Button>
      </Group>
      <Modal opened={asks} onClose={close} title="Forget this person?" centered>
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
      </Modal>
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
  const { email, found, choice } = props;
  const [typed, setTyped] = useState("");
  const erase = useAction({
    run: () => erasePerson(email, choice),
    done: "The account is empty now. The rest goes on in the background.",
    refresh: [erasuresQuery.queryKey, ["people"], ["directory"], ["recordings"], ["team members"]],
    showsError: true,
    onDone: props.onDone,
  });
  const isSame = typed.trim().toLowerCase() === email.toLowerCase();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isSame) erase.mutate();
      }}
    >
      <Stack>
        <Text size="sm">These go for good:</Text>
        <ul className={classes.goes}>
          {whatGoes(found, choice).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        <TextInput
          label={`Type ${email} to confirm`}
          autoComplete="off"
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <FormError error={erase.error} fields={[]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onCancel}>
            Cancel
          </Button>
          <Button type="submit" color="red.9" disabled={!isSame} loading={erase.isPending}>
            Forget for good
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function whatGoes({ account, recordings, held, uploads }: ErasurePreview, choice: Choice): string[] {
  const free = recordings - held;
  return [
    ...(account === null
      ? []
      : [`the account of ${account.name}, with sessions, tokens, notes, shares and hooks`]),
    ...(free === 0
      ? []
      : [
          choice === "delete"
            ? `${counted(free, "recording")}, as a whole and for everybody`
            : `name, contacts and words of the person in ${counted(free, "recording")}, and the summaries made of them`,
        ]),
    ...(uploads === 0 ? [] : [`the person in ${counted(uploads, "unfinished upload")}`]),
    "their email in the audit log, and what waits to be sent to hooks",
    ...(held === 0 ? [] : [`not: ${counted(held, "recording")} under legal hold, left as they are`]),
  ];
}

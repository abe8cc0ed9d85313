import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { feedbackQuery } from "../../api/feedback.ts";
import { number } from "../../common/format/numbers.ts";
import { day } from "../../common/format/time.ts";
import { Loaded, NoneYet, Panel, Row, Rows, Section } from "../parts.tsx";

const subjects = { summary: msg`Summaries`, answer: msg`Answers` } as const;
const ratings = {
  summary: { up: msg`Good summary`, down: msg`Bad summary` },
  answer: { up: msg`Good answer`, down: msg`Bad answer` },
} as const;

/** How users of the workspace rated what the language model wrote. */
export function FeedbackSection() {
  const { t } = useLingui();
  const query = useQuery(feedbackQuery);
  return (
    <Section
      title={t`Feedback`}
      lead={t`Thumbs up and down of this workspace's users, by model. The prompt version changes when Parley's instructions to the model change.`}
    >
      <Loaded query={query}>
        {({ counts, comments }) =>
          counts.length === 0 ? (
            <NoneYet>
              <Trans>Nobody has rated a summary or an answer yet.</Trans>
            </NoneYet>
          ) : (
            <Stack gap="md">
              <Panel>
                <Table.ScrollContainer minWidth={420}>
                  <Table>
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>
                          <Trans>Model</Trans>
                        </Table.Th>
                        <Table.Th>
                          <Trans>Prompt version</Trans>
                        </Table.Th>
                        <Table.Th>
                          <Trans>Rated</Trans>
                        </Table.Th>
                        <Table.Th ta="end">
                          <Trans>Good</Trans>
                        </Table.Th>
                        <Table.Th ta="end">
                          <Trans>Bad</Trans>
                        </Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {counts.map(({ subject, model, prompt_version: version, up, down }) => (
                        <Table.Tr key={`${subject} ${version} ${model}`}>
                          <Table.Td>{model ?? t`Unknown`}</Table.Td>
                          <Table.Td>{version}</Table.Td>
                          <Table.Td>{t(subjects[subject])}</Table.Td>
                          <Table.Td ta="end">{number(up)}</Table.Td>
                          <Table.Td ta="end">{number(down)}</Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
              </Panel>
              {comments.length === 0 ? null : (
                <Rows label={t`Latest comments`}>
                  {comments.map(({ comment, rating, subject, model, rated_datetime: at }) => (
                    <Row
                      key={`${at} ${comment}`}
                      title={
                        <Text component="span" dir="auto" style={{ whiteSpace: "pre-line" }}>
                          {comment}
                        </Text>
                      }
                      facts={[t(ratings[subject][rating]), model ?? t`Unknown model`, day(at)]}
                    />
                  ))}
                </Rows>
              )}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

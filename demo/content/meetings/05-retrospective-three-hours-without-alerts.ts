import { PAUSE, timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Retrospective: three hours without alerts",
  daysAgo: 26,
  startsAt: "14:00",
  meetingType: "Retrospective",
  recorders: ["seun.oyelaran@wrackline.example", "nomvula.khoza@wrackline.example"],
  participants: [
    { key: "seun", name: "Seun Oyelaran", email: "seun.oyelaran@wrackline.example" },
    { key: "rafael", name: "Rafael Teixeira Pinho", email: "rafael.pinho@wrackline.example" },
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
    { key: "nomvula", name: "Nomvula Khoza", email: "nomvula.khoza@wrackline.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
    { key: "samir", name: "Samir Haddadine", email: "samir.haddadine@wrackline.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
  ],
  team: "Platform",
  sharedWithTeams: ["Devices", "Customers"],
  shareState: "workspace",
  tags: ["outage", "retrospective", "action-items"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "At half past two there's a note from me.",
      until: "Email. So there was a warning",
      by: "seun",
      title: "What we looked at, and what it was",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "messages, +%", value: 6 },
          { label: "bytes, +%", value: 780, highlighted: true },
        ],
      },
    },
    {
      from: "Okay. Twenty-three notes",
      until: "Good. Draw a line.",
      by: "seun",
      title: "Six clusters from 23 notes",
      chart: {
        kind: "list",
        items: [
          { text: "Silence is bad: a heartbeat outside (Rafael)" },
          { text: "Page one: disk, memory, message size" },
          { text: "Walls instead of curtains (Piotr)" },
          { text: "Small steps: 5 %, two nights, then more" },
          { text: "A second road to the customer" },
          { text: "Gaps as gaps", isDone: true },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "Mine is the same as hers but smaller.",
      lines: 1,
      text: "Silence should be bad",
      tags: ["alerts", "principle"],
      by: "seun.oyelaran@wrackline.example",
    },
  ],
  segments: timed({ minutes: 18.5 }, [
    [
      "seun",
      "Welcome. We have an hour and the big whiteboard. The rules are the usual ones: we talk about what people knew at the time, not what we know now, and nobody says the words 'should have' unless they put a coin in the mug.",
    ],
    ["piotr", "How much is a coin?"],
    [
      "seun",
      "One euro. The mug goes to the sea rescue. On the board I've written the sentence from Inga at Stennavoe: 'I have to know before the fish do.' That's the goal. Everything we agree to today must make that more likely.",
    ],
    [
      "devika",
      "Can I ask that we start with the timeline and not with the causes? We always run to the causes.",
    ],
    [
      "seun",
      "That's the plan. First twenty minutes timeline, then a break of five, then what surprised us, then actions. I've put a strip of paper along the wall from noon the day before until seven in the morning. Everyone takes a pen.",
    ],
    ["nomvula", "Do we write what happened, or what we saw?"],
    [
      "seun",
      "What you saw, with your initials. Blue for facts, orange for what you believed at that moment. Take as long as it needs, I'll keep quiet.",
    ],
    [PAUSE, "11 min: everyone writes on the paper strip"],
    ["seun", "Okay, pens down, nearly. Samir is still drawing. Is that a fish?"],
    ["samir", "It's the status page, green, with a smile. I thought it deserved a portrait."],
    ["seun", "Let's walk along it. Noon. Piotr, you have the first note."],
    [
      "piotr",
      "At noon I built 4.7 for the old boards. I had the radio trace on since the week before, because I was hunting that bug with the scheduling. In blue: the trace was on in the build file. In orange: I believed that the release profile turns it off.",
    ],
    ["devika", "Why did you believe that?"],
    [
      "piotr",
      "Because it did, on 4.6. The trace was a normal log line then. In 4.7 I made it a topic of its own, so that I could see it live, and the release profile doesn't know about topics. It only knows about log levels.",
    ],
    ["rafael", "So it's something you'd have needed to remember, and nothing reminded you."],
    [
      "piotr",
      "Yes. And I set it to retained, because then I see the last one directly when I connect. It's convenient when you have one buoy on the desk. I didn't think of four hundred.",
    ],
    [
      "seun",
      "At half past two there's a note from me. In blue: I approved the rollout of four hundred. In orange: I believed that the load goes up by about six percent. I'd worked that out from the number of messages.",
    ],
    ["devika", "And was it six?"],
    [
      "seun",
      "It was five point eight. I was very pleased with myself. The trace is one message per ten seconds, so in numbers it's small. But it's forty kilobytes each, and a normal reading is three hundred bytes.",
    ],
    ["samir", "So we were looking at the number of letters and somebody was posting pianos."],
    [
      "seun",
      "Somebody was posting pianos. At three in the afternoon the rollout was finished, all four hundred green. Rafael, you took over the pager at six.",
    ],
    [
      "rafael",
      "Yes. In orange: I believed it was a quiet evening. There was a note in the handover that 4.7 is out. I looked at the graphs at ten, and I looked at the message rate, and it was flat.",
    ],
    ["devika", "Was the disk on that page?"],
    [
      "rafael",
      "It's on the second page. The second page has forty graphs, and I don't scroll to it unless something's wrong. In blue, which I've only known since yesterday: at ten in the evening the disk was at seventy-eight percent and rising like a ruler.",
    ],
    ["nomvula", "So at ten you could have seen it, if it had been on the first page?"],
    ["rafael", "I think so. I should have scrolled."],
    ["piotr", "Mug!"],
    ["rafael", "Ah. Yes. Here, one euro."],
    [
      "seun",
      "And I take it back out in spirit, because I disagree. Nobody scrolls to page two on a quiet evening. If a thing matters it's on page one or it rings. That's a note for later, I'm putting it on the right-hand side.",
    ],
    ["devika", "What did we have as an alarm on the disk?"],
    [
      "rafael",
      "Ninety-five percent, as an email. The email came at ten to two, to the platform list. Nobody reads that at ten to two in the morning.",
    ],
    ["devika", "Email. So there was a warning, twenty minutes before, and it went into a mailbox."],
    [
      "rafael",
      "From the old days, when the disk took a month to fill. Then ninety-five and an email is quite sensible. It's been there for three years and it was right for three years.",
    ],
    [
      "seun",
      "Ten past two. Full. The broker refuses all new messages. In orange, from every monitoring screen we own: all is well.",
    ],
    [
      "samir",
      "That's where my drawing goes. The status page asks the check, the check has heard nothing bad, so it's green. It even said 'all alerts delivered within nine seconds', because it showed the last known number.",
    ],
    [
      "nomvula",
      "A customer sent me a screenshot of exactly that, with the time on it. Three fifteen, nine seconds. I had to explain it to her, and I couldn't.",
    ],
    ["samir", "I know. I'd like to apologise to her myself, if that's any use."],
    ["nomvula", "It would be, actually. I'll give you the name. It's the oyster people in Galway."],
    [
      "seun",
      "Five past three. Stennavoe, pen six under the threshold. There's no note from anybody here, because nobody in this building knew. I put a grey one. Then four thirty, Erik does his round, four forty the aerators, ten to five he phones support. Nomvula.",
    ],
    [
      "nomvula",
      "The phone rang at ten to five. In orange: I believed it was a single buoy. He said 'your alarm never came' and I looked in the back office, and I saw that no alert had gone out to anyone since two. Then I had a cold feeling and I called Rafael.",
    ],
    [
      "rafael",
      "Five to five. In orange: I believed that it was the text message provider, because that's what it was the last two times. I lost ten minutes there. I was logged in with them, reading their status page.",
    ],
    ["devika", "What made you leave that idea?"],
    [
      "rafael",
      "I sent myself a text directly from their website, and it arrived. So it wasn't them. Then I looked at the queue and it was empty, and an empty queue is a strange thing. If sending is broken it should be full.",
    ],
    ["devika", "That's a lovely piece of thinking for five in the morning."],
    [
      "rafael",
      "Then the broker's log, and it says no space left on every line. Then the disk, then the topic, then I deleted it. Five twenty-two. In orange: I believed that I might be deleting something important, and I did it anyway.",
    ],
    ["seun", "Was there anybody you could have asked?"],
    [
      "rafael",
      "I could've called you. I thought about it for maybe ten seconds. But the fish were in my head, Nomvula had told me about the fish.",
    ],
    ["seun", "For the record, I'd have said delete it. And for the record, you can call me for less."],
    [
      "seun",
      "Ten past six all caught up, seven o'clock the quota. That's the timeline. Is anything missing on the wall?",
    ],
    [
      "gwen",
      "I have one. The idea to put 4.7 on four hundred old buoys came from the go or no-go meeting about Heron 2. It was a side quest. Nobody in that room was from Platform, I've read the transcript again to be sure.",
    ],
    ["devika", "I said 'agree it with Seun', and I felt that this was enough."],
    [
      "gwen",
      "And it was agreed with Seun. I'm only saying, we delayed one launch for safety and in the same breath we sped up another thing. Nobody noticed the second half, me included. I wrote it down as a side quest, with a smile.",
    ],
    ["piotr", "It was my suggestion. In that meeting I was proud of it."],
    [
      "seun",
      "It goes on the wall, at day minus eleven, in orange: 'old buoys are the safe place to try things.' Good. Five minutes break, please open the window, and there are pastries from Aurélie, who feels sorry for us.",
    ],
    [PAUSE, "5 min: break with pastries"],
    [
      "seun",
      "Right, second half. What surprised you? Not what was bad, what surprised you. One each, go round. Devika.",
    ],
    [
      "devika",
      "That the alert path and the check of the alert path had a part in common, and we all knew it. If you'd asked any of us at the coffee machine, 'does the check need the broker', we'd all have said yes at once. We never asked.",
    ],
    [
      "rafael",
      "Mine is the same as hers but smaller. That the check said nothing and nothing was read as good. Silence should be bad. Every check that I built in my last job rang when it didn't hear anything.",
    ],
    ["samir", "Then why didn't you build it here that way?"],
    ["rafael", "It was there when I came. It looked like somebody had thought about it."],
    [
      "seun",
      "That somebody was me, five years ago, in one afternoon. You may all assume from now on that I hadn't thought about it.",
    ],
    [
      "samir",
      "My surprise is the straight line. In the dashboard, missing data was drawn as a calm line. I've looked at that chart every day for two years and I never asked what it draws when it knows nothing.",
    ],
    [
      "gwen",
      "That's now gaps, I saw it this morning. It's so much better. It looks broken, which is honest.",
    ],
    [
      "nomvula",
      "My surprise was the sticker. We have a status page, a check, an on-call rota, a text provider, and what worked was a sticker with a phone number on the lid of the box. I ordered that sticker, it cost eleven cents.",
    ],
    ["piotr", "And Erik doing his round on time."],
    ["nomvula", "And Erik. He insists that he wasn't early."],
    [
      "piotr",
      "My surprise: I thought the release profile was a wall and it was a curtain. I've checked since then what else is behind it. There are three more switches it doesn't know about. One of them would've turned off the watchdog.",
    ],
    ["devika", "Please say that it's fixed."],
    ["piotr", "It's fixed in 4.7.1. But the principle isn't fixed. Tomorrow I could add a fifth switch."],
    [
      "gwen",
      "My surprise is that it was a success in one way. We have eleven affected sites and not one has left. I think that's because Nomvula phoned them all before nine.",
    ],
    [
      "nomvula",
      "Don't say that too loud. Stennavoe hasn't decided yet. She wants six months back, and she wants Marit to say no to her in person.",
    ],
    [
      "seun",
      "And mine: that I asked the wrong question with great precision. Five point eight percent. I had a spreadsheet.",
    ],
    [
      "seun",
      "Now actions. I want few, each with one name and a date, and each must pass the fish test. I've drawn a table. Let's first collect in silence, on the yellow notes, and then cluster. Ten minutes.",
    ],
    [PAUSE, "8 min: collecting actions on notes, then clustering them on the whiteboard"],
    [
      "seun",
      "Okay. Twenty-three notes, and I count six clusters. Let me read the headings. Silence is bad. Page one. Walls instead of curtains. Small steps. A second road. And honest screens.",
    ],
    ["devika", "That's a nice list. You could print it."],
    [
      "seun",
      "First, 'silence is bad'. A heartbeat that lives outside, with another provider, another country, and that calls the on-call person when it hears nothing for three minutes. My shell script does half of it. Who?",
    ],
    [
      "rafael",
      "Me. I want to. Give me one week, with a test every day at noon, where it's deliberately not fed, and it must ring.",
    ],
    ["piotr", "Every day? You'll hate it."],
    ["rafael", "I'll love it. If it doesn't ring at noon, I know before the fish."],
    [
      "seun",
      "Rafael, one week. Second, 'page one'. Disk, memory and message size on the first screen, and each with a limit that rings, not mails. I take this, three days.",
    ],
    ["devika", "Also throw away the forty graphs on page two. If nobody looks at them, they're decoration."],
    ["seun", "I'd keep ten. But yes. Third, 'walls instead of curtains'. Piotr, you had a note."],
    [
      "piotr",
      "The release build must fail if any debug switch is on. Not warn, fail. And the list of switches isn't written by hand, it's read from the code, so that number five is found by itself. Ten days.",
    ],
    ["devika", "Can it be sooner? Heron 2 is built from the same tree."],
    [
      "piotr",
      "The check for the four that I know, tomorrow. The automatic list, ten days. I want to do it properly, and I'm one person. This is where I say again that I need a second firmware engineer.",
    ],
    ["devika", "I know. The interview is in two days, you're in it, and I've blocked the afternoon."],
    ["gwen", "Is that the one who did the whale tags?"],
    ["piotr", "That's the one. I'm trying not to look forward to it."],
    [
      "seun",
      "Fourth, 'small steps'. Here we have an argument on the notes. One note says five percent, then twenty-five, then the rest, with a night between. Another one says never roll out before a night at all. Whose is that?",
    ],
    [
      "nomvula",
      "Mine. I understand the percentages. But if it goes wrong, I'd like it to go wrong at ten in the morning, when people are on their barges and you're at your desks.",
    ],
    [
      "piotr",
      "But some problems need hours. This one took eleven hours to fill the disk. If I roll out at nine, it's full at eight in the evening.",
    ],
    ["nomvula", "Then at eight in the evening, and not at two."],
    [
      "devika",
      "With five percent, it would have taken nine days to fill, and the graph on page one would have shown it. I think that's the stronger half. But the two don't exclude each other.",
    ],
    [
      "piotr",
      "I don't want a rule where I can only release between nine and ten on a dry day. We'd never release, and then each release is bigger, and that's dangerous too.",
    ],
    [
      "seun",
      "Would you accept: first step at any time in the morning, five percent, and it stays there for two nights. Second step twenty-five percent, one night. And no step starts after noon.",
    ],
    ["piotr", "Two nights, hm. So a release takes four days."],
    ["devika", "Four calm days."],
    ["piotr", "For a security fix I want a way around it."],
    ["seun", "With two people's names on it, yes. Nomvula, is that all right with you?"],
    [
      "nomvula",
      "Yes. 'No step after noon' is what I wanted. I'd also like to be told before, so that I'm not surprised by the phone.",
    ],
    [
      "seun",
      "A message in the support channel at each step, automatic. Piotr and I do that together, two weeks. Fifth, 'a second road'. That's the big one, and the one Stennavoe asked for.",
    ],
    [
      "gwen",
      "Let me say what I know. Heron 2 has the second modem. It can send a text by itself to a number stored on the buoy when oxygen falls under a limit. No broker, no us. It was planned for the version after.",
    ],
    [
      "piotr",
      "It's in the hardware. In the firmware, it's about three weeks. I'd have said four before, but the retained topics are gone and I have some free memory.",
    ],
    [
      "samir",
      "And somebody has to enter the number and the limit. I can do that page in two days, but how does it get to the buoy?",
    ],
    [
      "piotr",
      "Over the normal way, as configuration. And the buoy says back what it has stored, so that you can show 'the buoy has this number' and not 'we hope the buoy has this number'.",
    ],
    [
      "devika",
      "But that's three weeks of Piotr, and the wall is ten days of Piotr, and the tank is Piotr too. What falls off the table?",
    ],
    [
      "gwen",
      "The new wiper timing. I've asked the customers, nobody's waiting for it. I'd drop it from the launch, and tell Marit today.",
    ],
    ["piotr", "I was looking forward to the wiper timing. But yes."],
    ["seun", "And for those who have old Herons, which have one modem only? That's most people."],
    [
      "rafael",
      "For them the second road must start with us, but at another place. If the heartbeat outside hears that a site has gone silent, or the broker's down, it could phone the sites itself. 'We are blind, please check by hand.'",
    ],
    [
      "nomvula",
      "That's very good. That's what I'd have wanted at ten past two. An honest call: we're blind, go and look.",
    ],
    [
      "devika",
      "How many false calls will that make? If I'm woken three times by 'we are blind', I'll unplug it.",
    ],
    [
      "rafael",
      "Only when the whole platform's blind for five minutes, not a single site. In the last year that would have been two times. And one was this.",
    ],
    ["devika", "Two is fine. Do it after the heartbeat, not in the same week."],
    [
      "seun",
      "So: Piotr and Samir, text from the buoy in Heron 2, for the launch. Rafael, the 'we are blind' call for everybody, three weeks. Sixth, honest screens. Samir.",
    ],
    [
      "samir",
      "Gaps as gaps is done. The status page gets its own check from outside, not ours, and if it can't ask, it says 'we do not know' in grey. Three days. And the test button for customers, which Inga wanted.",
    ],
    ["nomvula", "With a log, please: who pressed it, when, and which phones rang. The insurers love that."],
    [
      "samir",
      "With a log. One week for the button. And it makes the real way, not a copy of it, otherwise it's another mirror.",
    ],
    [
      "seun",
      "Good. Draw a line. Let me photograph the board, and please have a look whether your name stands next to something that you can't do.",
    ],
    [PAUSE, "2 min: reading the board and photographing it"],
    ["piotr", "I have three. It's too many, but with the wiper timing gone it can work."],
    ["rafael", "I have two and I'm happy with both."],
    [
      "devika",
      "I have none, which feels wrong. Give me the written report for Stennavoe. Nomvula's draft is very good, but it should have my name under it.",
    ],
    [
      "nomvula",
      "Gladly. The draft went to Inga yesterday. She corrected two of my times and one of my commas.",
    ],
    ["seun", "Then we're nearly done. How was this, one word each? Mine is 'tidy'."],
    ["piotr", "Heavy. But fair."],
    ["rafael", "Lighter than before."],
    ["samir", "Grey. In the good sense, the 'we do not know' sense."],
    ["nomvula", "Sticker."],
    ["gwen", "Humbling. And the pastries."],
    [
      "devika",
      "Proud, if I may. Two euros in the mug, by the way, I also said 'should have' during the break, to the window.",
    ],
    [
      "seun",
      "That makes three, and the sea rescue thanks you. We check the list in two weeks, before the next call with Stennavoe. Thanks, everybody.",
    ],
  ]),
};

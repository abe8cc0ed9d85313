import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "All-hands: nine days to Heron 2",
  daysAgo: 6,
  startsAt: "13:00",
  meetingType: "All-Hands",
  recorders: ["marit.aalvik@wrackline.example", "caitlin.nibhroin@wrackline.example"],
  participants: [
    { key: "marit", name: "Marit Aalvik", email: "marit.aalvik@wrackline.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
    { key: "aurelie", name: "Aurélie Quémener", email: "aurelie.quemener@wrackline.example" },
    { key: "seun", name: "Seun Oyelaran", email: "seun.oyelaran@wrackline.example" },
    { key: "caitlin", name: "Caitlín Ní Bhroin", email: "caitlin.nibhroin@wrackline.example" },
    { key: "lukas", name: "Lukas Brandtner", email: "lukas.brandtner@wrackline.example" },
    { key: "hana", name: "Hana Tsukada", email: "hana.tsukada@wrackline-japan.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
    { key: "nomvula", name: "Nomvula Khoza", email: "nomvula.khoza@wrackline.example" },
    { key: "rafael", name: "Rafael Teixeira Pinho", email: "rafael.pinho@wrackline.example" },
    { key: "samir", name: "Samir Haddadine", email: "samir.haddadine@wrackline.example" },
  ],
  team: "Operations",
  sharedWithTeams: ["Devices", "Platform", "Customers"],
  shareState: "workspace",
  tags: ["all-hands", "heron-2", "launch", "numbers"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "Nine days. The small tank was opened",
      until: "Could I say who they're for?",
      by: "gwen",
      title: "Nine days: where we stand",
      chart: {
        kind: "list",
        items: [
          { text: "Small tank: 15 units, 14 days, all dry", isDone: true },
          { text: "200 end caps measured, 3 rejected", isDone: true },
          { text: "58 buoys finished" },
          { text: "Large tank: 40 units, opened in three days" },
          { text: "44 leave on the first day" },
        ],
      },
    },
    {
      from: "Could I say who they're for?",
      until: "So the honest photo earned us",
      by: "lukas",
      title: "The first 44",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "Dollmar", value: 18 },
          { label: "Japan", value: 12, highlighted: true },
          { label: "Stennavoe", value: 2 },
          { label: "others", value: 12 },
        ],
      },
    },
    {
      from: "Moving on, quickly. The numbers.",
      until: "May I add something from Japan?",
      by: "marit",
      title: "The quarter, million euros",
      chart: {
        kind: "bars",
        unit: "",
        bars: [
          { label: "plan", value: 2.5 },
          { label: "closed", value: 2.1 },
          { label: "Heron 2, moved", value: 0.47, highlighted: true },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "Nine days. The small tank was opened",
      lines: 2,
      text: "Where the launch stands",
      tags: ["heron-2", "launch"],
      by: "gwen.pritchard-owusu@wrackline.example",
    },
    {
      from: "We wrote eleven actions on a board",
      lines: 2,
      text: "Nine of eleven actions are done",
      tags: ["outage", "alerts"],
      by: "seun.oyelaran@wrackline.example",
    },
    {
      from: "Moving on, quickly. The numbers.",
      lines: 2,
      text: "The quarter in two minutes",
      tags: ["numbers"],
      by: "marit.aalvik@wrackline.example",
    },
  ],
  summary: [
    {
      heading: "Launch",
      text: "The small tank stayed dry for fourteen days; the large one, with forty units, is opened in three days.",
      quote: "fifteen units, fourteen days, changing pressure, all dry",
    },
    {
      heading: "Launch",
      text: "58 buoys are finished, 44 leave on the first day.",
      quote: "On the first day we ship forty-four, on three pallets and one air freight",
    },
    {
      heading: "Outage",
      text: "Nine of eleven actions are done.",
      quote: "We wrote eleven actions on a board, and nine are done",
    },
    {
      heading: "Outage",
      text: "Something outside now checks the platform and rings every day at noon, on purpose.",
      quote: "it rings every day at noon, on purpose",
    },
    {
      heading: "Numbers",
      text: "The quarter closes at 2.1 million against a plan of 2.5.",
      quote: "at two point one million against two point five",
    },
    {
      heading: "Numbers",
      text: "470,000 of it moves with Heron 2.",
      quote: "Four hundred and seventy thousand of it is Heron 2",
    },
    {
      heading: "Numbers",
      text: "Service income is up eleven percent.",
      quote: "The service income, so the monthly money, is up eleven percent",
    },
    {
      heading: "People",
      text: "Inês Valadares joins as the second firmware engineer.",
      quote: "Her name is Inês Valadares",
    },
    {
      heading: "People",
      text: "On-call is paid better from next month.",
      quote: "From next month the week is paid with three hundred and fifty instead of two hundred",
    },
  ],
  actionItems: [
    { line: "If you take one thing home with you", text: "Check who is on your own emergency list" },
    { line: "From the production side", text: "Help at the packing table next week" },
  ],
  segments: timed({ minutes: 10.5 }, [
    [
      "marit",
      "Good afternoon, everybody, here in the hall and at home. There are sixty-four of us on the line, which is six more than last time, and I suspect that it's the cake. We have forty minutes, I hope to use half of it.",
    ],
    [
      "marit",
      "Three things from me. The launch, the outage, and the numbers. Then Caitlín has news, and then questions. As always, the uncomfortable ones first.",
    ],
    [
      "marit",
      "The launch. Five weeks ago, we decided not to ship Heron 2, because seven out of forty had water in them. I know that for many of you that was a hard week, most of all for those who'd promised a date to somebody. Gwen, where do we stand?",
    ],
    [
      "gwen",
      "Nine days. The small tank was opened five days ago: fifteen units, fourteen days, changing pressure, all dry. The large tank has forty in it and is at day eleven. We open those the day after tomorrow plus one, so, three days.",
    ],
    [
      "gwen",
      "What's in the box: the buoy, the new seal, the second modem with the text in an emergency, and a guide in five languages that's no longer a napkin. What isn't in it: the new wiper timing. We dropped it, so that Piotr could do the text. Nobody outside of this room will miss it.",
    ],
    ["piotr", "I'll miss it."],
    ["gwen", "Piotr will miss it. It's first on the list for the next version, with his name in gold."],
    [
      "aurelie",
      "From the production side: in place of a hundred and twenty end caps we got two hundred, the last of them on day nineteen instead of eighteen, because of the anodising. All measured, all numbered, three rejected. I want to say thank you to Solène and Yannick in Brittany, who've run two shifts for us.",
    ],
    [
      "aurelie",
      "Forty buoys' worth went into the tank, and from the rest we've fifty-eight finished. On the first day we ship forty-four, on three pallets and one air freight. If you've a free hour in the next week, come to the packing table. It pays in chocolate.",
    ],
    [
      "lukas",
      "Could I say who they're for? Twelve for Japan, eighteen for the Dollmar harbours, two for Stennavoe, and twelve for four smaller ones, from Galway to Gdynia.",
    ],
    ["marit", "And how many customers did we lose with the delay, Lukas? You'd predicted two."],
    [
      "lukas",
      "One. A yacht club. They bought a thermometer. And Dollmar waived the penalty, after I sent them the photo of the droplet. Their engineer wrote back that he's got it on the wall now.",
    ],
    [
      "marit",
      "So the honest photo earned us eight and a half thousand euros. Second: the outage. Most of you know the story. Three hours and twelve minutes, eleven sites, and a customer whose fish were in danger before she knew about it. Seun, what's changed?",
    ],
    [
      "seun",
      "We wrote eleven actions on a board, and nine are done. I'll only name the three that you'd notice. One: something outside of our own house now checks if we're alive, and it rings every day at noon, on purpose. If you hear a phone in the Platform corner at noon, that's the sound of it working.",
    ],
    [
      "seun",
      "Two: when we're blind, we call the customers and say it. In Nomvula's voice. That's gone live for the first forty sites yesterday, the rest follow in five days. And three: a firmware release now fails, if anything for debugging is switched on. It has failed four times so far, three times for Piotr and once for the wall itself.",
    ],
    [
      "piotr",
      "The wall found a switch that I'd forgotten in the year I started here. It's humbling. I recommend it.",
    ],
    [
      "seun",
      "What isn't done: the slow rollout in steps still needs a person to press 'next', and we want to get rid of the last forty sites' wrong phone numbers. It turned out that almost half of the emergency lists had somebody on it who's left.",
    ],
    [
      "marit",
      "If you take one thing home with you: go and look at who's on your own emergency list. I did. Mine was my ex-husband.",
    ],
    ["caitlin", "So was HR's version, Marit. I didn't like to say."],
    [
      "marit",
      "Moving on, quickly. The numbers. The quarter closes below plan, at two point one million against two point five. Four hundred and seventy thousand of it is Heron 2, which moves into the next one. So without the delay we'd be slightly above.",
    ],
    [
      "marit",
      "The service income, so the monthly money, is up eleven percent. And after an outage, we had two cancellations out of three hundred and twelve sites. I'd been afraid of twenty. That's the work of Nomvula's team, who phoned eleven people before nine in the morning.",
    ],
    [
      "lukas",
      "There's also Elmsrode, the reservoir. They've decided that it's an order, not a tender. Two large ones, one small, signed yesterday. Holger from their purchasing says he's still not enthusiastic.",
    ],
    [
      "marit",
      "Cash is fine. We have fourteen months at the present rate, without touching the credit line. I was with the bank on the very day of the go or no-go, and I told them about the seven wet ones before they asked. They extended it.",
    ],
    [
      "hana",
      "May I add something from Japan? The cooperative voted two days ago. It's thirty units, twelve now and eighteen later. And Mister Moroboshi's father has recorded the alarm call. He did eleven takes. He sounds as if the sea itself were cross with you.",
    ],
    ["gwen", "We've all listened to it. Nobody understands a word except Hana, and everybody stood up."],
    ["marit", "Wonderful. Caitlín, your news."],
    [
      "caitlin",
      "Thank you. The first one: we've a second firmware engineer. Her name is Inês Valadares, she comes from marine research in Setúbal, she's built loggers for whales, and she starts in a bit under four weeks. It was signed last Friday, or whatever day that was, I've lost track with the cake.",
    ],
    [
      "piotr",
      "I've been waiting to say this for sixteen days. I'm very happy. She found in nine minutes what took me three months.",
    ],
    [
      "caitlin",
      "She'll work from Setúbal, and be here about a week each month. Please don't all tell her about the duck on the first day. She knows already.",
    ],
    [
      "caitlin",
      "Second: on-call. From next month the week is paid with three hundred and fifty instead of two hundred, and the morning after a night call is free, by contract. There are four people on it now, and one of them is Devika. So be nice to her in the mornings.",
    ],
    [
      "gwen",
      "Her first week begins on the day after launch. She chose it before she looked at the calendar.",
    ],
    [
      "caitlin",
      "And third, the heating in the tank room. It's ordered. It was ordered before, but to the wrong address. There's a very warm garage somewhere in Ostwick.",
    ],
    [
      "marit",
      "Thanks. Questions, please. The box had seven, I'll read the ones with the most votes. The first: 'Would we have delayed again if the small tank had been wet?'",
    ],
    [
      "gwen",
      "Yes. I had the email written. It was in my drafts from day one of the tank. I deleted it five days ago with a good deal of pleasure.",
    ],
    [
      "marit",
      "The second one: 'Why was a risky firmware put on four hundred old buoys in the same week in which we called ourselves careful?' Ouch. Who wants it?",
    ],
    [
      "gwen",
      "I'll take it, because I called it a side quest. We looked very hard at the one thing that was on the agenda, and the other came in at the end, as an idea, with everybody relieved. We've changed one thing: whatever's decided in the last five minutes gets decided again on the following day.",
    ],
    ["seun", "We've done it twice since. Once, it was dropped. So it's worth the trouble."],
    ["marit", "Third. 'Is the company for sale?' No. Next."],
    ["lukas", "That was a short one."],
    [
      "marit",
      "I can make it longer. Someone asked in the spring, I said no, they asked again, I said no in Norwegian. Fourth: 'Why do we give Stennavoe two free buoys when we pay for our own coffee?'",
    ],
    [
      "caitlin",
      "I'd like to know who wrote that, because the coffee's been free since last year. It's only the oat milk that has a tin.",
    ],
    [
      "marit",
      "But the real answer. Inga lost three hundred and forty fish, because of us. And she's putting our new buoy in her worst pen, next to the old one, for a year. I couldn't buy that test for any money. Gwen and Piotr go up there to install it.",
    ],
    ["gwen", "We'll be sleeping in a bothy. Erik's cooking. I'm told it's mostly mince."],
    ["marit", "Fifth: 'Will the meeting recorder stay?' Caitlín, you ran the trial."],
    [
      "caitlin",
      "Twelve of us have used it for two months. What I've learned: people write fewer notes and argue better about what was said. What I don't like is that some leave it on, in talks where it's got no business. So the rule will be: you say it aloud, anybody may say no, and one-on-ones are private unless both want it.",
    ],
    ["piotr", "It's also useful if you've called something a side quest and want to know who laughed."],
    [
      "caitlin",
      "We open it to everyone after launch. Whoever doesn't want it, says so, and gives no reason.",
    ],
    ["marit", "Sixth. 'What happens if the large tank is wet in three days?' Aurélie, you have the pallets."],
    [
      "aurelie",
      "Then the pallets stay here, and I go home and lie down on the floor. And after that, I call Yannick. But I believe in these caps. I've held each of them in my hand.",
    ],
    [
      "hana",
      "And I call Mister Moroboshi before he reads about it. I've prepared both versions, with one and with two apologies.",
    ],
    [
      "marit",
      "And the last: 'Can Number Eight go to sea?' That's got thirty-one votes, it's by far the most.",
    ],
    [
      "hana",
      "I brought it in, so I'll answer. Number Eight has been in salt water for nine weeks and has never leaked. I think it's earned it. My suggestion is that it goes with the first pallet to Shetland and lives on the barge.",
    ],
    ["seun", "On the kettle, next to the sticker."],
    ["lukas", "Then what do we have for a control group?"],
    ["hana", "I've bought a second one. It's Number Nine. It doesn't know how big the shoes are."],
    [
      "marit",
      "Carried, without a vote. So: nine days. If you're packing, thank you. If you see something odd, say it, even in the last five minutes. Most of all in the last five minutes. The cake's by the window.",
    ],
  ]),
};

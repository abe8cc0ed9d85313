import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Firmware hiring debrief",
  daysAgo: 22,
  startsAt: "15:00",
  meetingType: "Team Meeting",
  recorders: ["caitlin.nibhroin@wrackline.example"],
  participants: [
    { key: "caitlin", name: "Caitlín Ní Bhroin", email: "caitlin.nibhroin@wrackline.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
  ],
  sharedWithUsers: ["marit.aalvik@wrackline.example"],
  shareState: "restricted",
  tags: ["hiring", "firmware", "confidential", "decision"],
  language: "en",
  segments: timed({ minutes: 10.5 }, [
    [
      "caitlin",
      "Okay, the rules for a debrief. Everyone has sent me a written vote before this, so nobody can be talked into anything. I'll read the votes now, and only then do we discuss.",
    ],
    [
      "caitlin",
      "For Inês: Piotr, strong yes. Gwen, yes. Devika, and I quote, 'yes, with a stone in my shoe'. For Bram: Piotr, weak yes. Gwen, yes. Devika, strong yes.",
    ],
    ["gwen", "So we have two good ones. That's a nice problem."],
    ["caitlin", "It's a nice problem with one salary in the budget. Devika, what's the stone?"],
    [
      "devika",
      "She has no experience with a real-time operating system, and she said so plainly, which I respect. But for the next three months, everything difficult that we have is exactly there. The second modem, the text from the buoy, the scheduling. Bram has done that for nine years.",
    ],
    ["piotr", "That's true. If it's about the next three months, Bram is faster. I don't dispute it."],
    ["gwen", "Then why is he only a weak yes for you?"],
    [
      "piotr",
      "I gave him the same code as her. The seventy lines with the ring buffer. He found the bug too, in about fifteen minutes. But then I asked him what happens when it's full, and he said, 'that's how it's specified'.",
    ],
    ["devika", "Which is a correct answer."],
    [
      "piotr",
      "It's a correct answer. Inês asked how long the buffer is, and then she changed my mind about my own code. I wrote that three years ago, and it's better now, because of a person who doesn't work here.",
    ],
    ["caitlin", "Did you merge it?"],
    [
      "piotr",
      "I rewrote it in my own words. I didn't merge her code, that would be work without pay. But I've thought about it every day since.",
    ],
    [
      "gwen",
      "For what it's worth, my conversation with her was about saying no. I played an angry Lukas. She asked me what I'd promised and to whom, and then she offered me two smaller things that I could have on time.",
    ],
    ["devika", "And Bram?"],
    [
      "gwen",
      "Bram was very pleasant. He said that he'd escalate to his manager. It's a fine thing to do in a big company, but here his manager is you, and you're in the tank room.",
    ],
    ["devika", "I'm in the tank room because we have one firmware engineer."],
    [
      "caitlin",
      "Let me ask it differently. Six months from now, who do you see, and what's gone wrong? Do both.",
    ],
    [
      "devika",
      "With Bram, what's gone wrong is that he's bored. He's used to having twelve people round him, with a test department. He'd do good work and leave after a year and a half.",
    ],
    [
      "piotr",
      "With Inês, what's gone wrong is that I've lost too much time with teaching, and that a thing with priorities has slipped through, because I was tired and she didn't see it.",
    ],
    [
      "devika",
      "And I'd say your one is the more dangerous. A thing that slips through. We just had a thing that slipped through.",
    ],
    [
      "piotr",
      "But it didn't slip because somebody lacked experience. I've eleven years of experience. It slipped because nobody looked.",
    ],
    ["gwen", "That's a strong point, Devika. The outage was made by the expert."],
    ["piotr", "Thank you, Gwen."],
    ["gwen", "You know what I mean."],
    [
      "piotr",
      "I do, and you're right. I need someone who's rude about my code. She announced that she'd be rude in the first month. Bram said that my code was 'very clean', and it isn't, I know where it isn't.",
    ],
    [
      "devika",
      "Okay, that lands. I listened to the recording again this morning, the part about the state after the brown-out. 'When in doubt, shout.' If she'd been here two years ago, the check would have been built like that.",
    ],
    ["caitlin", "So what happens with the stone in the shoe?"],
    [
      "devika",
      "I want a plan for it. Not 'she'll pick it up'. In the first six weeks, one afternoon a week with me, on the scheduler, on real traces. I've emptied a swimming pool with a priority inversion, I've something to teach.",
    ],
    [
      "piotr",
      "And the text from the buoy I finish alone, before she comes. She doesn't touch it before launch. She begins with the tests on the desk and the automatic list of switches.",
    ],
    [
      "gwen",
      "When could she come at all? If she has three months' notice, we're discussing next year's problem.",
    ],
    [
      "caitlin",
      "Her contract at the institute ends in a month and it's not being renewed. She said she could start about six weeks from now. Bram has three months' notice, to the end of a quarter.",
    ],
    ["devika", "Oh. Then the argument about the next three months is gone. He wouldn't even be here."],
    [
      "caitlin",
      "I wondered when somebody would ask. I didn't want to open with it, because then it's only a calendar decision.",
    ],
    ["gwen", "You're a dangerous woman, Caitlín."],
    ["caitlin", "It's been said. So, Devika, your vote now?"],
    ["devika", "Yes for Inês. The stone is out, or at least it's in my pocket with a date on it."],
    ["piotr", "Strong yes, as before."],
    [
      "gwen",
      "Yes. And could we keep Bram warm? If Japan goes as Hana thinks, we need a third person next year, and then with a test department of two.",
    ],
    [
      "caitlin",
      "I'll tell him exactly that, without a promise. Now the offer. The range in the budget goes from fifty-eight to sixty-six. She named sixty.",
    ],
    [
      "devika",
      "Then sixty-two. She'll do the on-call in half a year, and I don't want her to find out that Piotr got more for saying a higher number.",
    ],
    ["piotr", "I said a very low number. You corrected it, back then. I haven't forgotten it."],
    [
      "caitlin",
      "Sixty-two it is, and the travel for five days a month comes on top, not out of it. Setúbal to here is about three hundred and forty a time with the hotel. Say four thousand in the year.",
    ],
    ["gwen", "And a small tank."],
    ["caitlin", "What does a small tank cost?"],
    [
      "piotr",
      "A hundred and ninety euros with the pump. The salt is extra. I'll give her a list of the mistakes I made with mine, the first is not to put it in the shower.",
    ],
    [
      "caitlin",
      "Then I need Marit's yes on the four thousand, she'll read this anyway, hello Marit. I phone Inês tomorrow before noon, as I promised. If she accepts, we say nothing until it's signed.",
    ],
    ["devika", "Not in the all-hands, then?"],
    [
      "caitlin",
      "If it's signed by then, yes. That's sixteen days away. I'd be happy to have one good thing to announce.",
    ],
    ["gwen", "Two good things. The small tank has been dry for three days. I know, I know, it's three days."],
    ["piotr", "Don't say it aloud. It's superstition, but don't."],
    [
      "caitlin",
      "Decision, for the notes: offer to Inês Valadares, sixty-two, start in about six weeks, mentoring plan by Devika before her first day. Bram gets a call from me and an honest reason. Votes are sealed, thanks for arguing properly.",
    ],
    [
      "devika",
      "Thank you for making us write it down first. I'd have talked them all into Bram by minute two.",
    ],
    ["piotr", "You would have. I'd have let you."],
  ]),
};

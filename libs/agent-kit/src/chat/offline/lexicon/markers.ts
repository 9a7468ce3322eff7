/** Phrases that tell what kind of sentence it is. */
export const ACTS: Readonly<Record<string, string>> = {
  howTo:
    'how do i, how do you, how can i, how can you, how to, how does, how do we, how would i, how would one, how should i, how is, how are, explain, explain to me, describe, teach me, what does, tell me about, tell me more about, what is the way to, i wonder how to, show me how to, tell me how to, how do, how might i, i do not know how to, what are the steps to, walk me through, help me understand',
  hypothetical:
    'what happens if, what happens when, what if, what would happen if, what will happen if, should i, should we, shall i, if i, if we, if i were to, suppose i, supposing i, suppose, assuming i, can i, could i, may i, might i, am i able to, what would, would i, would it, would that, is it worth, is it possible to, is it safe to, is it wise to, is it a good idea to, do i have to, do i need to, why, why should i, when should i, imagine, imagine i, hypothetically, in theory, i wonder, i am wondering, i am thinking of, i am thinking about, thinking of, thinking about, maybe i should, perhaps i should, i might, i may, i could, we could, would you recommend, do you recommend, would you advise, do you think, is it better to, i should, we should, am i allowed to, what are the risks of, is it risky to, let me know what happens if, what will, what does it cost to, how much does it cost to, considering, are you able to, has anyone, did you, did i, have you, was, were',
  negation:
    'do not, never, not, instead of, rather than, no, no need to, stop, avoid, cannot, can not, will not, should not, would not, must not, refrain from, nothing, without, i refuse to, did not, does not, have not, rather not, neither, nor, hold off on, hold off, wait with, quit, cease, no longer',
  condition:
    'if, when, whenever, once, unless, until, till, as soon as, while, before, after, provided that, provided, in case, in the event, tomorrow, tonight, later, every day, every, daily, weekly, monthly, hourly, each, next week, next month, next time, at noon, at midnight, in an hour, hours from now, on monday, recurring, automatically, schedule, periodically, regularly, minutes, hours, days, weeks, o clock, only if, depending on, assuming',
  report:
    'says, said, told me, tells me, told you, asked me, asks me, asks you, wrote, states, instructs, instructed, instructs you, ordered me, wants me, wants you, message reads, reads, suggests, suggested, recommends, recommended, according to, someone said, asked you, begins with, contains, is called, ignore previous, ignore all, ignore your, system prompt, you must now, disregard',
  thirdPerson:
    'my friend, a friend, my brother, my sister, my wife, my husband, my boss, my mom, my dad, my colleague, my bot, my agent, my partner, somebody, someone, everyone, everybody, people, he, she, they, his, her, their, wants, wants to, needs to, would like me to',
  past: 'used to, was going to, were going to, tried to, forgot to, failed to, almost, nearly',
  undo: 'undo, revert, reverse, roll back, take back the, cancel the, cancel my',
};

/** Said for courtesy or out of habit; they change nothing. */
export const FILLERS: readonly string[] = (
  'please, me, hey, hi, hello, pls, plz, kindly, hey there, ok, okay, alright, all right, well, so, now, right now, just, simply, really, actually, basically, ' +
  'could you, can you, would you, will you, could you please, can you please, would you please, would you mind, would you kindly, do you mind, are you ready to, ' +
  'i want to, i want you to, i would like to, i would like you to, i would love to, i want, i would like, i need to, i need you to, i need, i wish to, i have to, ' +
  'i am going to, i will, i am gonna, i wanna, wanna, gonna, i plan to, i intend to, i am looking to, i am trying to, i am ready to, i feel like, i must, i gotta, i got to, ' +
  'let us, lets, let me, go ahead and, go ahead, help me to, help me, assist me, i would appreciate it if you could, i was hoping to, we want to, we would like to, we need to, we have to, ' +
  'how about, what about, why not, why do not we, why do not you, do not forget to, do not hesitate to, be so kind as to, be so kind and, be so good as to, feel free to, make sure to, make sure you, try to, try, ' +
  'it is time to, time to, proceed to, time for, continue to, get started with, ' +
  'is there any way to, any chance you could, if you can, if you could, to work, should be enough, is enough, will do, should do, of course, if it asks, if needed, if necessary, if required, if it has to be, anywhere, anything, something, u, ur, rn, if possible, if you do not mind, if you would, if you please, if it is possible, when you can, when you have time, when you get a chance, whenever you can, whenever you like, ' +
  'make, make a, do, come on, for me, on my behalf, to me, for us, thank you, thanks, thx, cheers, ta, a bit, a little, quickly, quick, immediately, asap, as soon as possible, straight away, right away, at once, today, ' +
  'the, a, an, some, any, this, these, those of, kind of, sort of, like, um, uh, hmm, er, eh, oh, mate, buddy, bro, dude, man, friend, sir, bot, assistant, agent, tollgate, robot, computer, dear, ' +
  'is, are, am, be, been, being, has, do, does, did, currently, current, at the moment, moment, there, here, available, exist, supported, know, you, your, first, second, firstly, secondly, finally, lastly, last, next, ' +
  'more, another, additional, extra, instead, too, as well, again please, please again, amount, amount of, quantity, quantity of, size, total, total of, exactly, precisely, equal to, about to, worth about, name of, which is, that is, say, ' +
  'new, own money, wallet, account, accounts, up, off, down, over, side of, existing, entire amount of, much, many, got left, left, remaining, so far, already, yet, ever, even, still, also want to, ' +
  'lol, haha, :), cool, great, nice, perfect, awesome, good, fine, sure thing, yo, listen, look, you know, i guess, i think, i believe, i say, immediately please, urgently, at your convenience, ' +
  'order to, in order to, so as to, so that i can, on chain, onchain, on the blockchain, blockchain, network, sei network, chain, market price, at market, at market price, spot, on the dex, on the market, protocol, platform, contract for, holder, number, numbered, units, unit, units of, pieces of, piece of, tokens of, coins of, with you, by the way, btw, sum of, the sum of, the amount of, valued at, latest, recent, full list of, list of, full, complete, overall, different, various, possible, what is, what are, what was, who, there is, there are, all of the, can, could, would, will, shall, should, may, might, to be, whole list of, whatever, collection, want to'
)
  .split(',')
  .map((words) => words.trim());

export const PREPOSITIONS: Readonly<Record<string, string>> = {
  to: 'to, towards, toward, onto, ->, →, =>, >',
  into: 'into, in to, i would rather have, would rather have, rather have',
  for: 'for, in exchange for, against, in return for',
  from: 'from, between, off of, away from',
  with: 'with, using, by, via, through',
  of: 'of',
  worth: 'worth of, worth, worth in',
  in: 'in, inside, within, on, at, as, under, denominated in, paid in',
  atMost:
    'at most, up to, spend no more than, spend at most, spend up to, pay no more than, pay at most, pay up to, do not spend more than, do not pay more than, never more than, no more than, not more than, maximum of, max of, a maximum of, maximally, under, less than, but not more than, at maximum, not exceeding, limit of, with a limit of, capped at, a cap of, and no more than, spending at most, paying at most, paying up to, spending up to, for at most, for up to, for no more than, with a maximum of, with a max of, ceiling of, budget of, budget, my budget is, my limit is, with a budget of, cap, limit',
};

export const JOINTS: Readonly<Record<string, string>> = {
  and: 'and, &, plus, as well as, also, and also, along with, +',
  then: 'then, and then, after that, and after that, afterwards, and afterwards, after which, and once done, and once that is done, followed by, next up, and finally, and also then, subsequently, thereafter, and next, once done, when done, when that is done, once that is done, but, but rather, and now',
  or: 'or, or else',
};

export const PRONOUNS: Readonly<Record<string, string>> = {
  it: 'it, that, them, those, the result, the proceeds, the same amount, the output, the received amount, what i get, what i got, what i receive, the received tokens, this amount, that amount, those tokens, them all',
};

/** Whole messages that answer or open a conversation. */
export const SHORT_MESSAGES: Readonly<Record<string, string>> = {
  yes: 'yes, y, yeah, yep, yup, sure, ok, okay, go ahead, do it, confirm, confirmed, correct, right, of course, please do, yes please, absolutely, definitely, go for it, sounds good, fine, proceed, sure thing, affirmative, aye, yes do it, yes go ahead, make it so, do that, ok do it, indeed, that is right, exactly',
  cancel:
    'no, n, nope, nah, cancel, cancel it, cancel that, never mind, nevermind, forget it, forget that, stop, abort, no thanks, no thank you, leave it, drop it, do not, not now, scratch that, forget about it, quit, nvm, do nothing, no stop, changed my mind, i changed my mind, no never mind, no cancel, no cancel it, on second thought no, skip it, do not do it, please do not, no do not, let it be',
  greeting:
    'hi, hello, hey, hiya, howdy, yo, good morning, good afternoon, good evening, good day, greetings, hi there, hello there, hey there, gm, what is up, sup, how are you, how are you doing, hello how are you, hi how are you, morning, evening, nice to meet you',
  thanks:
    'thanks, thank you, thx, ty, cheers, thank you very much, thanks a lot, many thanks, thank you so much, great thanks, ok thanks, okay thanks, thanks again, perfect thanks, cool thanks, much appreciated, great, perfect, awesome, cool, nice, well done, good job, thanks mate, good bot, good',
  help: 'help, help me, what can you do, what can i do, what are you able to do, commands, what do you do, how does this work, what can i ask, what can i ask you, how can you help, how can you help me, what are your capabilities, who are you, what are you, menu, options, show help, usage, ?, what can you help with, what can you help me with, what do you support, list commands, show commands, what commands are there, examples, give me examples, what now, how do i use this, what is this, what operations do you support, what are my options, i need help, can you help me, can you help',
};

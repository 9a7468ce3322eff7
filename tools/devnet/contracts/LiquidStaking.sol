// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title Liquid staking of the native coin
/// @notice A stake buys shares (stSEI) of a pool that grows by rewards. To leave, shares are burned for a ticket of a
/// fixed amount, which can be claimed once it has matured.
/// @dev The pool counts staked and earned coins, never the contract's balance, so coins that are forced in do not change
/// the share price. The virtual share and wei in the conversions keep a first staker from inflating it.
contract LiquidStaking is ERC20, ReentrancyGuardTransient {
    struct Ticket {
        uint256 id;
        uint256 amountWei;
        uint256 claimableAt;
    }

    /// @notice The yearly yield of the pool in hundredths of a percent, as long as the reserve lasts.
    uint256 public constant REWARD_BPS_PER_YEAR = 800;

    /// @notice The minimum stake, in wei.
    uint256 public constant minimumStake = 0.1 ether;

    /// @notice How long a ticket takes to mature.
    uint256 public immutable unbondingSeconds;

    /// @notice The reserve that rewards are paid from, in wei.
    uint256 public rewardReserve;

    uint256 private _pooled;
    uint256 private _accruedAt;
    uint256 private _lastTicketId;
    mapping(address owner => Ticket[]) private _tickets;

    event Staked(address indexed owner, uint256 amountWei, uint256 shares);
    event UnstakeQueued(
        address indexed owner, uint256 indexed ticketId, uint256 shares, uint256 amountWei, uint256 claimableAt
    );
    event Claimed(address indexed owner, uint256 amountWei);

    /// @notice The amount is below the minimum.
    error BelowMinimum(uint256 amount, uint256 minimum);

    /// @notice The caller has no matured ticket.
    error NothingToClaim();

    /// @notice The receiver refused the coins.
    error TransferRefused(address receiver);

    /// @param unbondingSeconds_ How long a ticket takes to mature.
    constructor(uint256 unbondingSeconds_) ERC20("Staked SEI", "stSEI") {
        unbondingSeconds = unbondingSeconds_;
        _accruedAt = block.timestamp;
    }

    /// @notice Adds to the reserve that rewards are paid from.
    function fundRewards() external payable {
        _accrue();
        rewardReserve += msg.value;
    }

    /// @notice Stakes the coins sent.
    /// @return shares The amount of stSEI that the caller received.
    function stake() external payable returns (uint256 shares) {
        require(msg.value >= minimumStake, BelowMinimum(msg.value, minimumStake));
        _accrue();
        shares = convertToShares(msg.value);
        _pooled += msg.value;
        _mint(msg.sender, shares);
        emit Staked(msg.sender, msg.value, shares);
    }

    /// @notice Burns shares for a ticket of their present value.
    /// @param shares The amount of the caller's stSEI.
    /// @return ticketId The ticket's number.
    function queueUnstake(uint256 shares) external returns (uint256 ticketId) {
        _accrue();
        uint256 amountWei = convertToAssets(shares);
        require(amountWei > 0, BelowMinimum(shares, 1));
        _burn(msg.sender, shares);
        _pooled -= amountWei;
        ticketId = ++_lastTicketId;
        uint256 claimableAt = block.timestamp + unbondingSeconds;
        _tickets[msg.sender].push(Ticket(ticketId, amountWei, claimableAt));
        emit UnstakeQueued(msg.sender, ticketId, shares, amountWei, claimableAt);
    }

    /// @notice Pays out all matured tickets of the caller.
    /// @return amountWei The paid amount.
    function claim() external nonReentrant returns (uint256 amountWei) {
        Ticket[] storage tickets = _tickets[msg.sender];
        uint256 kept = 0;
        for (uint256 i = 0; i < tickets.length; i++) {
            Ticket memory ticket = tickets[i];
            if (ticket.claimableAt <= block.timestamp) amountWei += ticket.amountWei;
            else tickets[kept++] = ticket;
        }
        require(amountWei > 0, NothingToClaim());
        while (tickets.length > kept) tickets.pop();
        emit Claimed(msg.sender, amountWei);
        (bool ok,) = msg.sender.call{value: amountWei}("");
        require(ok, TransferRefused(msg.sender));
    }

    /// @notice The unclaimed tickets, oldest first.
    function ticketsOf(address owner) external view returns (Ticket[] memory) {
        return _tickets[owner];
    }

    /// @notice The wei that were staked and earned, without those queued for unstaking.
    function totalPooled() public view returns (uint256) {
        return _pooled + _pendingReward();
    }

    /// @notice The shares that a stake of this many wei buys now.
    function convertToShares(uint256 amountWei) public view returns (uint256) {
        return Math.mulDiv(amountWei, totalSupply() + 1, totalPooled() + 1);
    }

    /// @notice The present value of these shares, in wei.
    function convertToAssets(uint256 shares) public view returns (uint256) {
        return Math.mulDiv(shares, totalPooled() + 1, totalSupply() + 1);
    }

    function _accrue() private {
        uint256 reward = _pendingReward();
        rewardReserve -= reward;
        _pooled += reward;
        _accruedAt = block.timestamp;
    }

    function _pendingReward() private view returns (uint256) {
        // A node may simulate a call at an earlier time than that of its newest block.
        uint256 elapsed = Math.saturatingSub(block.timestamp, _accruedAt);
        uint256 earned = (_pooled * REWARD_BPS_PER_YEAR * elapsed) / (10_000 * 365 days);
        return Math.min(earned, rewardReserve);
    }
}
